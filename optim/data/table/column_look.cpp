#include "optim/data/table/column_look.h"

#include <cmath>
#include <optional>

#include "optim/data/field.h"
#include "optim/data/table/words.h"

namespace gv {
namespace {

/// Returns whether three digits stand behind its only comma.
bool is_grouped(std::string_view word) {
  return word.size() - word.find(',') == 4;
}

void take_row(const RowSource& rows, std::vector<ColumnLook>& looks, char decimal) {
  const std::size_t numbers = rows.numbers().size();
  for (std::size_t k = 0; k < numbers; ++k) looks[k].at(rows.numbers()[k], rows, k);
  for (std::size_t k = 0; k < rows.words().size(); ++k)
    looks[numbers + k].at(rows.words()[k], rows, decimal);
}

}  // namespace

void ColumnLook::at(std::string_view word, const RowSource& rows, char decimal) {
  if (is_missing(word)) {
    ++missing;
    if (!word.empty()) ++absent[std::string(word)];
    return;
  }
  const std::optional<double> value = number_in(word, decimal);
  if (value && std::isfinite(*value)) return take_number(*value, word);
  if (lacks_number(word)) {
    if (nones++ == 0) {
      none_ = word;
      none_place_ = rows.place();
    }
    return;
  }
  take_text(word, rows);
  if (has_decimal_comma(word)) {
    if (commas + grouped == 0) first_comma = shown(word);
    ++(is_grouped(word) ? grouped : commas);
  } else if (days_of(word)) {
    ++dates;
  } else if (is_doubtful_date(word)) {
    ++doubtful;
  }
}

void ColumnLook::take_text(std::string_view word, const RowSource& rows) {
  if (text++ == 0) {
    first_text = shown(word);
    text_place = rows.place();
  }
  if (words.size() <= most_words) words.emplace(word.substr(0, table_bounds::name_bytes));
}

void ColumnLook::at(double value, const RowSource& rows, std::size_t k) {
  if (std::isnan(value)) {
    ++missing;
    return;
  }
  take_number(value, different.size() <= table_bounds::few ? rows.number_text(k) : "");
}

void ColumnLook::take_number(double value, std::string_view written) {
  ++numbers;
  if (value != std::floor(value)) fractions = true;
  if (different.size() <= table_bounds::few) different.emplace(written);
}

void ColumnLook::finish() {
  if (nones == 0) return;
  if (text == 0 ? numbers > 0 : is_dates()) {
    missing += nones;
    return;
  }
  if (text == 0) {
    first_text = shown(none_);
    text_place = none_place_;
  }
  text += nones;
  words.insert(none_);
}

std::vector<ColumnLook> look_at(RowSource& rows, std::uint64_t most, char decimal) {
  std::vector<ColumnLook> looks(rows.names().size());
  for (std::uint64_t r = 0; r < most; ++r) {
    try {
      if (!rows.next()) break;
      take_row(rows, looks, decimal);
    } catch (const RowError&) {  // is told by who reads them all
    }
  }
  for (ColumnLook& look : looks) look.finish();
  return looks;
}

}  // namespace gv
