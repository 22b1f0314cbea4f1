#include "peer/record/export/tensorboard.h"

#include <array>
#include <bit>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "peer/record/report/figures.h"

namespace gv {
namespace {

static_assert(std::endian::native == std::endian::little, "numbers are written as they lie");

template <class Value>
std::string raw(Value value) {
  std::string bytes(sizeof value, '\0');
  std::memcpy(bytes.data(), &value, sizeof value);
  return bytes;
}

std::string varint(std::uint64_t value) {
  std::string bytes;
  for (; value >= 0x80; value >>= 7) bytes += static_cast<char>(value | 0x80);
  return bytes + static_cast<char>(value);
}

// Fields of the protocol buffers wire format.
enum Wire : std::uint8_t {
  varint_field = 0,
  fixed64_field = 1,
  bytes_field = 2,
  fixed32_field = 5
};

std::string key(int field, Wire wire) {
  return varint(static_cast<std::uint64_t>(field) << 3 | wire);
}
std::string text_field(int field, std::string_view bytes) {
  return key(field, bytes_field) + varint(bytes.size()) + std::string(bytes);
}

std::string record(std::string_view data) {
  const std::string length = raw<std::uint64_t>(data.size());
  return length + raw(masked_crc32c(length)) + std::string(data) + raw(masked_crc32c(data));
}

std::string scalar(std::string_view tag, double value) {
  return text_field(1, text_field(1, tag) + key(2, fixed32_field) + raw(static_cast<float>(value)));
}

std::string summary_of(const MetricsRow& row) {
  std::string values;
  for (const RunFigure& figure : figures())
    if (const auto value = figure.of(row); value && !figure.tag.empty())
      values += scalar(figure.tag, *value);
  for (std::size_t k = 0; row.states && k < activities; ++k)
    values += scalar(fmt::format("state_seconds/{}", activity_names[k]), (*row.states)[k]);
  return values;
}

std::string event_at(double wall_time) {
  return key(1, fixed64_field) + raw(wall_time);
}

std::array<std::uint32_t, 256> make_table() {
  constexpr std::uint32_t reversed_polynomial = 0x82f63b78;
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t n = 0; n < 256; ++n) {
    std::uint32_t rest = n;
    for (int bit = 0; bit < 8; ++bit)
      rest = (rest & 1U) != 0 ? rest >> 1 ^ reversed_polynomial : rest >> 1;
    table[n] = rest;
  }
  return table;
}

}  // namespace

std::uint32_t crc32c(std::string_view bytes) {
  static const std::array<std::uint32_t, 256> table = make_table();
  std::uint32_t crc = ~0U;
  for (const char c : bytes) crc = table[(crc ^ static_cast<std::uint8_t>(c)) & 0xff] ^ crc >> 8;
  return ~crc;
}

std::uint32_t masked_crc32c(std::string_view bytes) {
  return std::rotr(crc32c(bytes), 15) + 0xa282ead8U;
}

std::string event_file(const ExportedRun& run) {
  std::string file = record(event_at(run.began) + text_field(3, "brain.Event:2"));
  for (const MetricsRow& row : run.rows)
    file += record(event_at(run.began + row.seconds) + key(2, varint_field) + varint(row.round) +
                   text_field(5, summary_of(row)));
  return file;
}

std::string write_event_file(const std::string& folder, const ExportedRun& run) {
  const std::string place = folder + "/" + run.name;
  std::error_code error;
  std::filesystem::create_directories(place, error);
  if (error) throw std::runtime_error(place + ": cannot be made: " + error.message());
  const std::string path = fmt::format("{}/events.out.tfevents.{:.0f}.grapevine", place, run.began);
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  out << event_file(run);
  out.close();
  if (!out) throw std::runtime_error(path + ": cannot be written");
  return path;
}

}  // namespace gv
