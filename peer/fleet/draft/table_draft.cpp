#include "peer/fleet/draft/table_draft.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <stdexcept>

#include <fmt/format.h>

#include "optim/data/field.h"
#include "optim/data/table/column_look.h"
#include "optim/data/table/row_source.h"
#include "optim/data/table/table_plan.h"
#include "peer/fleet/draft/draft_line.h"

namespace gv {
namespace {

/// The use that is decided of a column, and why.
struct Decision {
  enum class Use { number, category, date, ignored } use = Use::number;
  std::string why{};  ///< "" where it needs no word
};

std::string counted(std::uint64_t n, const char* one) {
  return fmt::format("{} {}{}", n, one, n == 1 ? "" : "s");
}

/// A category whose values are mostly other ones in each row tells nothing: a name, a number of an
/// account, a note.
bool tells_nothing(const ColumnLook& look) {
  const std::size_t words = look.words.size();
  return words > ColumnLook::most_words || (words > table_bounds::few && 2 * words > look.text);
}

Decision decide_mixed(const ColumnLook& look) {
  if (look.words.size() + look.different.size() <= table_bounds::few)
    return {Decision::Use::category, "words and few numbers: each is a value"};
  if (look.words.size() == 1)
    return {Decision::Use::ignored,
            fmt::format("left out: {} stands {} among {} numbers; empty, these fields are missing "
                        "values",
                        look.first_text,
                        look.text == 1 ? "once" : fmt::format("{} times", look.text),
                        look.numbers)};
  const std::string where = look.text_place.substr(look.text_place.rfind(':') + 1);
  return {Decision::Use::ignored,
          fmt::format("left out: {} in line {} is no number, and {} values are",
                      look.first_text,
                      where,
                      look.numbers)};
}

Decision decide(const ColumnLook& look) {
  using Use = Decision::Use;
  if (look.values() == 0) return {Use::ignored, "left out: no values"};
  if (look.text == 0) return {};
  if (look.has_commas())
    return {
        Use::ignored,
        fmt::format("left out: is {} 1000 times more or less? if its comma is a decimal one, say "
                    "`decimal: \",\"`",
                    look.first_comma)};
  if (look.is_dates()) return {Use::date, "dates, as days since 1970-01-01"};
  if (look.numbers > 0) return decide_mixed(look);
  if (2 * (look.dates + look.doubtful) > look.text)
    return {Use::ignored,
            look.doubtful > 0
                ? "left out: dates that do not say which number is the month; write 2024-03-01"
                : fmt::format("left out: dates, and {} is none", look.first_text)};
  if (tells_nothing(look))
    return {Use::ignored,
            fmt::format("left out: {} words, {} of them different",
                        look.text,
                        look.words.size() > ColumnLook::most_words
                            ? fmt::format("more than {}", ColumnLook::most_words)
                            : std::to_string(look.words.size()))};
  if (look.words.size() > table_bounds::many)
    return {Use::category,
            fmt::format("{} different words, each of which becomes a feature", look.words.size())};
  return {Use::category, ""};
}

class TableDraft {
 public:
  TableDraft(const DraftAnswers& answers, const std::string& folder)
      : answers_(answers), folder_(folder) {}

  DataDraft draft() {
    spec_.file = answers_.data;
    decide_header();
    look();
    find_target();
    for (std::size_t k = 0; k < names_.size(); ++k)
      decisions_.push_back(k == target_ ? Decision{} : decide(looks_[k]));
    const TaskGuess guess = guess_task(spec_);
    write_lines(guess);
    draft_.classes = !guess.regression;
    draft_.model = guess.regression ? "linear" : "{ kind: mlp, hidden: [32] }";
    draft_.model_note =
        guess.regression ? "linear regression" : "or softmax, which has no hidden layer";
    if (guess.regression) slow_down();
    return std::move(draft_);
  }

 private:
  /// A first line that looks like data is data, unless it has the target's name.
  void decide_header() {
    const HeaderGuess guess = guess_header(spec_.file);
    if (guess.why.empty()) return;
    const std::unique_ptr<RowSource> rows = open_rows(spec_.file, {.header = false});
    const bool named =
        rows->next() && std::ranges::find(rows->words(), answers_.target) != rows->words().end();
    spec_.header = named || !guess.sure;
    header_why_ = guess.why;
    draft_.decisions.push_back(
        spec_.has_header()
            ? fmt::format("the first line is taken for the columns' names, and {}; say `header: "
                          "false` if it is data",
                          guess.why)
            : fmt::format("no line of names, since {}: the columns are x0, x1, ...", guess.why));
  }

  /// Looks with decimal points; once more with decimal commas where there is one.
  void look() {
    looks_ = looks();
    for (std::size_t k = 0; k < looks_.size(); ++k)
      if (looks_[k].commas > 0 && looks_[k].has_commas()) {
        const std::string why =
            fmt::format("as in {} of {}", looks_[k].first_comma, shown(names_[k]));
        spec_.decimal = ',';
        decimal_why_ = why;
        draft_.decisions.push_back("decimal commas, " + why);
        looks_ = looks();
        return;
      }
  }
  std::vector<ColumnLook> looks() {
    const std::unique_ptr<RowSource> rows = open_rows(spec_.file, {.header = spec_.has_header()});
    names_ = rows->names();
    return look_at(*rows, table_bounds::rows, spec_.decimal);
  }

  void find_target() {
    const std::string target = answers_.target.empty() ? names_.back() : answers_.target;
    const auto at = std::ranges::find(names_, target);
    if (at == names_.end())
      throw std::invalid_argument(fmt::format(
          "--target: {} has no column {}", printable(answers_.data, 200), shown(target)));
    target_ = static_cast<std::size_t>(at - names_.begin());
    spec_.target = target;
  }

  void write_lines(const TaskGuess& guess) {
    add("data:", "");
    add("  kind: table", "");
    add("  file: " + draft_word(draft_path(answers_.data, folder_)), "");
    if (spec_.header) add(fmt::format("  header: {}", spec_.has_header()), header_why_);
    if (spec_.decimal == ',') add("  decimal: \",\"", decimal_why_);
    add("  target: " + draft_word(names_[target_]),
        answers_.target.empty() ? "the last column: is it the right one?"
                                : "the column that is to be told");
    add(fmt::format("  task: {}", guess.regression ? "regression" : "classification"), guess.why);
    add(fmt::format("  held_out: {} %", held_out_percent), "drawn at random, for testing");
    write_missing();
    write_list("dates", Decision::Use::date);
    write_list("ignore", Decision::Use::ignored);
    write_categories();
  }

  void write_missing() {
    std::string counts;
    std::uint64_t all = 0;
    for (std::size_t k = 0; k < names_.size(); ++k) {
      if (decisions_[k].use == Decision::Use::ignored || looks_[k].missing == 0) continue;
      all += looks_[k].missing;
      if (counts.size() < 400)
        counts += fmt::format(
            "{}{} {}", counts.empty() ? "" : ", ", printable(names_[k], 60), looks_[k].missing);
    }
    if (all == 0) return;
    const std::string note = fmt::format("{}: {}", counted(all, "missing value"), counts);
    draft_.lines += fmt::format("  # {}\n", note);
    draft_.decisions.push_back(note + "; the column's mean takes their place");
    add("  missing: mean", "or drop, which leaves their rows out");
    if (looks_[target_].missing > 0)
      draft_.decisions.push_back(fmt::format("{} without {} left out",
                                             counted(looks_[target_].missing, "row"),
                                             shown(names_[target_])));
  }

  /// `key: [a, b]`, and above it why, a line for each column.
  void write_list(const std::string& key, Decision::Use use) {
    std::string list;
    for (std::size_t k = 0; k < names_.size(); ++k) {
      if (k == target_ || decisions_[k].use != use) continue;
      list += (list.empty() ? "" : ", ") + draft_word(names_[k]);
      note(k);
    }
    if (!list.empty()) add(fmt::format("  {}: [{}]", key, list), "");
  }

  /// A list of them where the usual rule would not find one; else what there is to be known of
  /// some.
  void write_categories() {
    std::string list;
    bool needed = false;
    for (std::size_t k = 0; k < names_.size(); ++k) {
      if (k == target_ || decisions_[k].use != Decision::Use::category) continue;
      list += (list.empty() ? "" : ", ") + draft_word(names_[k]);
      needed = needed || looks_[k].numbers > 0;
      if (!decisions_[k].why.empty()) note(k);
    }
    if (needed) add(fmt::format("  one_hot: [{}]", list), "each value becomes a feature");
  }

  void note(std::size_t k) {
    const std::string text = fmt::format("{}: {}", printable(names_[k], 60), decisions_[k].why);
    draft_.lines += fmt::format("  # {}\n", text);
    draft_.decisions.push_back(text);
  }
  void add(const std::string& yaml, const std::string& comment) {
    draft_.lines += draft_line(yaml, comment);
  }
  /// Slows down for a linear model on scaled columns, whose curvature is at most their number:
  /// steps at the old point beside mixing by W stay bounded below (1 + the least eigenvalue of W) /
  /// curvature, and a ring of Metropolis weights has -1/3.
  void slow_down() {
    const double rate = std::min(usual_rate, 0.5 / static_cast<double>(names_.size()));
    draft_.optimizer = fmt::format("{{ kind: sgd, lr: {:.2g} }}", rate);
    if (rate < usual_rate) draft_.optimizer_note = "1 / (2 columns): a larger one may diverge";
  }

  const DraftAnswers& answers_;
  const std::string& folder_;
  std::vector<std::string> names_;
  std::vector<ColumnLook> looks_;
  std::vector<Decision> decisions_;
  std::size_t target_ = 0;
  TableSpec spec_;
  std::string header_why_, decimal_why_;
  DataDraft draft_;
};

}  // namespace

DataDraft table_draft(const DraftAnswers& answers, const std::string& folder) {
  return TableDraft(answers, folder).draft();
}

}  // namespace gv
