#include "graph/formats/number_rows.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>

#include "graph/formats/file_bytes.h"
#include "graph/formats/file_error.h"

namespace gv {
namespace {

constexpr std::string_view separators = " \t\r\v\f,";

double number_of(std::string_view word, const std::string& path, std::size_t line) {
  std::string_view digits = word;
  if (digits.starts_with('+')) digits.remove_prefix(1);
  double value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  const bool whole = error == std::errc{} && end == digits.data() + digits.size();
  if (!whole || !std::isfinite(value)) {
    const std::string found = excerpt(word);
    refuse_file(path + ":" + std::to_string(line) + ": ", "`" + found + "` is not a finite number");
  }
  return value;
}

std::vector<double> numbers_of(std::string_view text, const std::string& path, std::size_t line) {
  std::vector<double> values;
  for (;;) {
    text.remove_prefix(std::min(text.find_first_not_of(separators), text.size()));
    if (text.empty()) return values;
    const std::string_view word = text.substr(0, text.find_first_of(separators));
    values.push_back(number_of(word, path, line));
    text.remove_prefix(word.size());
  }
}

}  // namespace

std::vector<NumberRow> parse_number_rows(std::string_view text, const std::string& path) {
  std::vector<NumberRow> rows;
  for (std::size_t line = 1; !text.empty(); ++line) {
    const std::string_view whole = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(whole.size() + 1, text.size()));
    std::vector<double> values = numbers_of(whole.substr(0, whole.find('#')), path, line);
    if (!values.empty()) rows.push_back({line, std::move(values)});
  }
  return rows;
}

std::vector<NumberRow> read_number_rows(const std::string& path) {
  return parse_number_rows(without_mark(file_bytes(path)), path);
}

}  // namespace gv
