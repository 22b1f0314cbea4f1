#include "optim/data/table/column_look.h"

#include <array>
#include <cstdio>
#include <optional>

#include "optim/data/field.h"
#include "optim/data/reading/words.h"

namespace gv {
namespace {

/// Returns whether exactly three digits follow its only comma.
bool is_grouped(std::string_view word) {
  return word.size() - word.find(',') == 4;
}

void take_row(const RowSource& rows, std::vector<ColumnLook>& looks, char decimal) {
  const std::size_t numbers = rows.numbers().size();
  for (std::size_t k = 0; k < numbers; ++k) looks[k].at(rows.numbers()[k], rows, k);
  for (std::size_t k = 0; k < rows.words().size(); ++k)
    looks[numbers + k].at(rows.words()[k], rows, decimal);
}

/// A loss curves along a column by up to the column's mean square. Above 30, SGD diverges at every
/// rate above 2 / 30^2 = 0.002, which is a tenth of a usual one. LeCun, Bottou, Orr & Mueller 1998,
/// "Efficient BackProp", sections 4.3 and 5.1.
constexpr double largest_scale = 30;

std::string figure(double value) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.4g", value);
  return text.data();
}

/// The warning about a column that is taken as it is and is too large for SGD.
std::string scale_warning(const TableSpec& spec, const std::string& name, const ColumnLook& look) {
  return "column " + shown(name) + " has mean " + figure(look.mean) + " and deviation " +
         figure(look.deviation()) +
         ", and `standardize: false` leaves it so: SGD learns only from columns near -1..1; " +
         (spec.part ? "write the statistics once, `grapevine data FILE --write stats.yaml`, then "
                      "`standardize: { file: stats.yaml }`"
                    : "leave `standardize: false` out");
}

std::string warning(const std::string& name, const ColumnLook& look) {
  const std::string column = "column " + shown(name);
  const std::string features =
      std::to_string(look.words.size()) + " different values in the first rows";
  if (look.is_dates())
    return column + " has dates, and each of " + features +
           " becomes a feature; name it under `dates`, or under `ignore`";
  if (look.words.size() > table_bounds::many)
    return column + " has " + features + ", and each becomes a feature; `ignore` leaves it out";
  return "";
}

/// Returns a word that counts as a missing value but may be one of the column's values: `-` next to
/// `+`, NA next to US.
std::string absent_word(const std::string& name, const ColumnLook& look, bool target) {
  const auto doubtful = [target](const auto& each) { return target || each.first != "?"; };
  const auto word = std::ranges::find_if(look.absent, doubtful);
  if (word == look.absent.end()) return "";
  return "column " + shown(name) + ": " + shown(word->first) + " in " +
         std::to_string(word->second) + " of the first rows counts as a missing value" +
         (target ? ", and these rows are left out" : "") +
         "; write another word if it is one of its values";
}

/// Lists classes that are one number in two spellings. They remain two classes: `1e5` and `100000`
/// may differ, `1` and `1.0` probably do not.
std::string same_numbers(const std::set<std::string, std::less<>>& classes) {
  std::map<std::string, std::string> seen;
  for (const std::string& name : classes)
    if (const auto [at, first] = seen.emplace(plain_number(name), name); !first)
      return "classes " + shown(at->second) + " and " + shown(name) +
             " are the same number, and two classes; write them alike if they are one";
  return "";
}

std::string header_warning(const TableSpec& spec) {
  if (spec.header) return "";
  const HeaderGuess guess = guess_header(spec.file);
  if (guess.why.empty()) return "";
  return "the first line is taken for the columns' names, and " + guess.why +
         "; write `header: false` if it is data, or else `header: true`";
}

/// Counts of the first line's words by kind, and of words that also occur in their columns below.
struct FirstLine {
  std::size_t numbers = 0;         ///< numbers over a column of numbers
  std::size_t words = 0, met = 0;  ///< words over columns of text, and those also in the column
  std::string number, word;        ///< the first of each, as in shown()
};

FirstLine look_at_first_line(const std::vector<std::string>& first,
                             const std::vector<ColumnLook>& below) {
  FirstLine line;
  for (std::size_t k = 0; k < first.size(); ++k) {
    const bool number = number_in(first[k], '.').has_value();
    if (number && below[k].text == 0) {
      if (line.numbers++ == 0) line.number = shown(first[k]);
    } else if (!number && below[k].numbers == 0) {
      ++line.words;
      if (below[k].words.contains(first[k]) && line.met++ == 0) line.word = shown(first[k]);
    }
  }
  return line;
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
  } else if (const auto days = days_of(word)) {
    ++dates;
    measure(*days);
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
  measure(value);
  if (value != std::floor(value)) fractions = true;
  if (different.size() <= table_bounds::few) different.emplace(written);
}

/// Welford 1962, "Note on a method for calculating corrected sums of squares and products".
void ColumnLook::measure(double value) {
  const double off = value - mean;
  mean += off / static_cast<double>(numbers + dates);
  squares += off * (value - mean);
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
    } catch (const RowError&) {  // the reader of all rows reports it
    }
  }
  for (ColumnLook& look : looks) look.finish();
  return looks;
}

HeaderGuess guess_header(const std::string& file) {
  const std::unique_ptr<RowSource> rows = open_rows(file, {.header = false});
  if (rows->format() != "CSV" || !rows->next()) return {};
  const std::vector<std::string> first(rows->words().begin(), rows->words().end());
  const FirstLine line = look_at_first_line(first, look_at(*rows, table_bounds::looked_at, '.'));
  if (line.numbers == first.size()) return {true, "all its values are numbers"};
  if (line.met > 0 && (line.numbers > 0 || line.met == first.size()))
    return {true, line.word + " is also a value in its column"};
  if (line.numbers > 0) return {false, line.number + " is a number over a column of numbers"};
  return {};
}

std::vector<std::string> table_warnings(const TableSpec& spec) {
  std::vector<std::string> warnings;
  const auto add = [&](std::string text) {
    if (!text.empty()) warnings.push_back(std::move(text));
  };
  add(header_warning(spec));
  const std::unique_ptr<RowSource> rows = open_table(spec);
  const std::vector<ColumnLook> looks = look_at(*rows, table_bounds::looked_at, spec.decimal);
  double largest = largest_scale;
  std::string too_large;
  for (std::size_t k = 0; k < looks.size(); ++k) {
    const std::string& name = rows->names()[k];
    const bool target = spec.target.empty() ? rows->usual_target() == k : name == spec.target;
    if (target && !spec.regression && looks[k].text == 0) add(same_numbers(looks[k].different));
    const bool words = looks[k].text > 0 && !looks[k].is_dates();
    if (target ? !spec.regression && looks[k].has_classes() : words)
      add(absent_word(name, looks[k], target));
    const bool number = looks[k].text == 0 || is_listed(spec.dates, name);
    const bool category = spec.one_hot && is_listed(*spec.one_hot, name);
    if (!spec.standardize && !target && number && !category && !is_listed(spec.ignore, name) &&
        looks[k].scale() > largest) {
      largest = looks[k].scale();
      too_large = scale_warning(spec, name, looks[k]);
    }
    if (spec.one_hot || spec.given || target || looks[k].text == 0 || looks[k].numbers > 0 ||
        looks[k].has_commas() || is_listed(spec.ignore, name) || is_listed(spec.dates, name))
      continue;
    add(warning(name, looks[k]));
  }
  add(too_large);
  return warnings;
}

}  // namespace gv
