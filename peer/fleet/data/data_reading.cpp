#include "peer/fleet/data/data_reading.h"

#include <algorithm>
#include <stdexcept>

#include <fmt/format.h>

#include "peer/fleet/file/named_path.h"
#include "peer/fleet/file/readers.h"

namespace gv {
namespace {

const NumberRange& range_of(const DataKind& row, std::string_view key) {
  const auto found = std::ranges::find(row.keys, key, &DataKey::name);
  if (found == row.keys.end() || !found->number)
    throw std::logic_error(fmt::format("data kind `{}` has no number `{}`", row.kind, key));
  return *found->number;
}

}  // namespace

double DataReading::number(std::string_view key) {
  return number(key, map.take(std::string(key)));
}

double DataReading::number(std::string_view key, const Value* value) {
  const NumberRange& range = range_of(row, key);
  if (value == nullptr) return range.usual;
  if (!range.whole)
    return read_number(source, *value, range.least, range.most).value_or(range.usual);
  const auto count = read_count(source,
                                *value,
                                static_cast<std::uint64_t>(range.least),
                                static_cast<std::uint64_t>(range.most));
  return count ? static_cast<double>(*count) : range.usual;
}

std::uint32_t DataReading::whole(std::string_view key) {
  return static_cast<std::uint32_t>(number(key));
}

void DataReading::sizes() {
  data.train = whole("train");
  data.test = whole("test");
}

void DataReading::servers() {
  set(map.take("servers", "none"), data.servers, [&](const Value& value) {
    return read_count(source, value, "data.servers");
  });
}

std::string DataReading::path(const Value* value, std::string_view key, const std::string& help) {
  if (value != nullptr) return read_path(source, *value, folder);
  source.error(at, fmt::format("data of kind `{}` needs `{}`", row.kind, key), help);
  return "";
}

}  // namespace gv
