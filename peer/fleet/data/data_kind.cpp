#include "peer/fleet/data/data_kind.h"

#include <algorithm>
#include <stdexcept>

#include <fmt/format.h>

#include "peer/fleet/data/data_reader.h"

namespace gv {

const DataKind& find_data_kind(const std::string& kind) {
  const std::vector<DataKind>& rows = data_kinds();
  const auto row = std::ranges::find(rows, kind, &DataKind::kind);
  if (row != rows.end()) return *row;
  if (kind == program_data().kind) return program_data();
  throw std::logic_error(fmt::format("no data are of kind `{}`", kind));
}

DataForm form_of(const DataSpec& data) {
  const DataKind& row = find_data_kind(data.kind);
  return row.form_of != nullptr ? row.form_of(data) : row.form;
}

std::string digest_text(const DataSpec& data) {
  const DataKind& row = find_data_kind(data.kind);
  std::string text;
  for (const auto& [key, value] : data.own) text += fmt::format("{} {};", key, value);
  if (row.digest != nullptr) return text + row.digest(data);
  return data.content.empty() ? text : text + fmt::format("files {};", data.content);
}

std::vector<DataKey> with_sizes(std::vector<DataKey> keys) {
  std::vector<DataKey> all{{.name = "train",
                            .takes = "samples",
                            .number = whole_number(60'000, 1, 100'000'000),
                            .help = "number of training samples to draw",
                            .example = "data: { kind: digits, train: 2000, test: 500 }",
                            .whose = "Drawn data"},
                           {.name = "test",
                            .takes = "samples",
                            .number = whole_number(10'000, 1, 100'000'000),
                            .help = "number of test samples to draw",
                            .example = "data: { kind: digits, train: 2000, test: 500 }",
                            .whose = "Drawn data"}};
  std::ranges::move(keys, std::back_inserter(all));
  return all;
}

}  // namespace gv
