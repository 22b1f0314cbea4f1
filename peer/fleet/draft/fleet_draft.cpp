#include "peer/fleet/draft/fleet_draft.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <filesystem>
#include <memory>
#include <sstream>
#include <stdexcept>

#include <fmt/format.h>

#include "optim/data/field.h"
#include "optim/data/table/column_look.h"
#include "optim/data/table/row_source.h"
#include "optim/data/table/table_plan.h"
#include "optim/printable.h"
#include "peer/fleet/data/data_spec.h"
#include "peer/fleet/file/value.h"
#include "peer/fleet/json/json.h"

namespace gv {
namespace {

namespace fs = std::filesystem;

constexpr double most_machines = 1000;
constexpr double usual_batch = 16;
constexpr double enough_rounds = 500;
constexpr double most_epochs = 200, least_epochs = 10;

/// Returns the table, or that of peer 0.
std::string first_table(const DraftAnswers& answers) {
  DataSpec data;
  data.table.file = answers.data;
  return data.table_file(0);
}

/// Returns whether the file's extension is that of a text, which cannot be a table.
bool is_text(const DraftAnswers& answers) {
  const std::string ending = fs::path(answers.data).extension().string();
  return ending == ".txt" || ending == ".text" || ending == ".md";
}

DataDraft text_draft(const DraftAnswers& answers, const std::string& folder) {
  return {.lines = "data:\n  kind: text\n" +
                   draft_line("  file: " + draft_word(draft_path(answers.data, folder)),
                              "its last tenth is for testing") +
                   draft_line("  context: 32", "bytes to look back on"),
          .model = "{ kind: transformer, width: 32, heads: 4, layers: 2 }",
          .model_note = "",
          .optimizer = "{ kind: adam, lr: 0.003 }"};
}

DataDraft folder_draft(const DraftAnswers& answers, const std::string& folder) {
  const fs::path dir = answers.data;
  const bool idx =
      fs::exists(dir / "train-images-idx3-ubyte") || fs::exists(dir / "train-images-idx3-ubyte.gz");
  const std::string place = draft_word(draft_path(answers.data, folder));
  DataDraft draft;
  draft.lines =
      fmt::format("data:\n  kind: {}\n", idx ? "idx" : "images") +
      draft_line(fmt::format("  dir: {}", place),
                 idx ? "the four files of the MNIST family" : "one folder for each class");
  if (!idx) draft.lines += draft_line("  held_out: 20 %", "drawn at random, for testing");
  draft.model = "{ kind: mlp, hidden: [128] }";
  draft.model_note = "or lenet5 or resnet20, for pictures";
  return draft;
}

std::vector<std::string> words_of(std::string text) {
  std::ranges::replace(text, ',', ' ');
  std::istringstream in(text);
  std::vector<std::string> words;
  for (std::string next; in >> next;) words.push_back(next);
  return words;
}

/// Returns the number, if that is the only word.
std::optional<double> count_in(const std::vector<std::string>& words) {
  return words.size() == 1 ? number_of<std::uint32_t>(words[0]) : std::nullopt;
}

bool is_host(const std::string& name) {
  return name.size() <= 200 && name[0] != '-' && std::ranges::all_of(name, [](char c) {
           return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '_' ||
                  c == '.';
         });
}

std::string machines_draft(const std::string& machines) {
  const std::vector<std::string> names = words_of(machines);
  if (const auto count = count_in(names); count && *count >= 1 && *count <= most_machines)
    return draft_line(fmt::format("peers: {}", *count),
                      "processes on this machine, or one on each machine of a lobby");
  if (names.empty() || static_cast<double>(names.size()) > most_machines ||
      !std::ranges::all_of(names, is_host) || number_of<double>(names[0]))
    throw std::invalid_argument(
        fmt::format("--machines: `{}` is neither a number of peers, 1 to 1000, nor names of "
                    "machines; write 4, or anna,ben",
                    printable(machines, 100)));
  std::string hosts = "hosts:", peers = "peers:";
  for (const std::string& name : names) {
    hosts += fmt::format("\n  {}: {{}}", draft_word(name));
    peers += fmt::format("\n  - {{ host: {}, count: 1 }}", draft_word(name));
  }
  return "# ssh must get to each of them without a password, and the data must lie there at the "
         "same\n"
         "# path: `grapevine doctor` looks.\n" +
         hosts + "\n" + peers + "\n";
}

[[noreturn]] void refuse_goal(const std::string& goal) {
  throw std::invalid_argument(fmt::format(
      "--goal: `{}` is no goal; write `accuracy 0.9`, `loss 0.4`, `1000 rounds`, `20 epochs` or "
      "`10 min`",
      printable(goal, 100)));
}

std::string goal_draft(const DraftAnswers& answers, bool classes) {
  const std::string& goal = answers.goal;
  const std::vector<std::string> words = words_of(goal);
  if (words.size() != 2) refuse_goal(goal);
  if (words[0] == "accuracy" || words[0] == "loss") {
    const auto value = number_of<double>(words[1]);
    if (!value || !(*value >= 0) || (words[0] == "accuracy" && *value > 1)) refuse_goal(goal);
    if (words[0] == "accuracy" && !classes)
      throw std::invalid_argument(
          "--goal: a regression has no accuracy; write a loss, such as "
          "`loss 0.4`");
    return draft_line("stop:", "whichever comes first") +
           draft_line(fmt::format("  target: {{ {}: {} }}", words[0], words[1]),
                      "of the mean model") +
           (answers.own_parts()
                ? draft_line("  rounds: 5000", "at most")
                : draft_line("  epochs: 200", "passes over a peer's part of the data"));
  }
  const auto amount = number_of<double>(words[0]);
  if (!amount || !(*amount > 0)) refuse_goal(goal);
  if (answers.own_parts() && words[1] == "epochs")
    throw std::invalid_argument(
        "--goal: no peer knows how many rows the others have, so a run cannot end by epochs; write "
        "`1000 rounds`");
  for (const char* unit : {"rounds", "epochs"})
    if (words[1] == unit) return draft_line(fmt::format("stop: {{ {}: {} }}", unit, words[0]), "");
  for (const char* unit : {"s", "min", "h"})
    if (words[1] == unit)
      return draft_line(fmt::format("stop: {{ time: {} {} }}", words[0], unit), "");
  refuse_goal(goal);
}

/// Returns the evaluation interval: a tenth of a goal in epochs, otherwise one epoch; every 100
/// rounds for a text, whose epochs are long; with own parts the same in rounds.
std::string evaluations_of(const DraftAnswers& answers) {
  if (no_file(answers.data).empty() && is_text(answers)) return "100 rounds";
  const bool own = answers.own_parts();
  const char* const unit = own ? "rounds" : "epochs";
  const std::vector<std::string> words = words_of(answers.goal);
  const bool given = words.size() == 2 && words[1] == unit;
  const double every = given ? number_of<double>(words[0]).value_or(0) / 10 : own ? 20 : 1;
  return fmt::format("{} {}", static_cast<std::uint64_t>(std::clamp(every, 1.0, 1e6)), unit);
}

/// Decision on the use of a column, with its reason.
struct Decision {
  enum class Use { number, category, date, ignored } use = Use::number;
  std::string why{};  ///< "" if no reason needs to be shown
};

/// Returns whether the values differ in most rows, as names, account numbers and notes do: a
/// category that predicts nothing.
bool tells_nothing(const ColumnLook& look) {
  const std::size_t words = look.words.size();
  return words > ColumnLook::most_words || (words > table_bounds::few && 2 * words > look.text);
}

Decision decide_mixed(const ColumnLook& look) {
  if (look.words.size() + look.different.size() <= table_bounds::few)
    return {Decision::Use::category, "words and few numbers: each is a value"};
  if (look.words.size() == 1)
    return {
        Decision::Use::ignored,
        fmt::format("left out: {} stands {} among {} numbers; empty, these fields are missing "
                    "values",
                    look.first_text, look.text == 1 ? "once" : fmt::format("{} times", look.text),
                    look.numbers)};
  const std::string where = look.text_place.substr(look.text_place.rfind(':') + 1);
  return {Decision::Use::ignored,
          fmt::format("left out: {} in line {} is no number, and {} values are", look.first_text,
                      where, look.numbers)};
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
    return {Use::ignored, look.doubtful > 0
                              ? "left out: dates of which the month is unclear; write 2024-03-01"
                              : fmt::format("left out: dates, and {} is none", look.first_text)};
  if (tells_nothing(look))
    return {Use::ignored, fmt::format("left out: {} words, {} different ones", look.text,
                                      look.words.size() > ColumnLook::most_words
                                          ? fmt::format("more than {}", ColumnLook::most_words)
                                          : std::to_string(look.words.size()))};
  if (look.words.size() > table_bounds::many)
    return {Use::category,
            fmt::format("{} different words, each of which becomes a feature", look.words.size())};
  return {Use::category, ""};
}

/// Examines all rows of a table and decides how to treat decimal commas, dates, missing values and
/// useless columns. Throws std::runtime_error, or std::invalid_argument for an unknown target.
class TableDraft {
 public:
  TableDraft(const DraftAnswers& answers, const std::string& folder)
      : answers_(answers), folder_(folder) {}

  DataDraft draft() {
    spec_.file = first_table(answers_);
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
  /// Treats a first line that looks like data as data, unless it contains the target's name.
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

  /// Examines the columns with decimal points, and again with decimal commas if a value has one.
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
      throw std::invalid_argument(fmt::format("--target: {} has no column {}",
                                              printable(answers_.data, 200), shown(target)));
    target_ = static_cast<std::size_t>(at - names_.begin());
    spec_.target = target;
  }

  void write_lines(const TaskGuess& guess) {
    draft_.lines = "data:\n  kind: table\n";
    const bool own = answers_.own_parts();
    add("  file: " + draft_word(draft_path(answers_.data, folder_)),
        own ? "each peer's own; this machine has peer 0" : "");
    if (spec_.header) add(fmt::format("  header: {}", spec_.has_header()), header_why_);
    if (spec_.decimal == ',') add("  decimal: \",\"", decimal_why_);
    add("  target: " + draft_word(names_[target_]), answers_.target.empty()
                                                        ? "the last column: is it the right one?"
                                                        : "the column to predict");
    add(fmt::format("  task: {}", guess.regression ? "regression" : "classification"), guess.why);
    if (answers_.test.empty())
      add(fmt::format("  held_out: {} %", held_out_percent), "drawn at random, for testing");
    else
      add("  test: " + draft_word(draft_path(answers_.test, folder_)),
          own ? "all peers have it" : "");
    if (own)
      add(fmt::format("  standardize: {{ file: {} }}", draft_statistics),
          "means of the part that is here; list every category and class");
    write_missing(own);
    write_list("dates", Decision::Use::date);
    write_list("ignore", Decision::Use::ignored);
    write_categories();
  }

  void write_missing(bool own) {
    std::string counts;
    std::uint64_t all = 0;
    bool numbers = false, texts = false;
    for (std::size_t k = 0; k < names_.size(); ++k) {
      if (decisions_[k].use == Decision::Use::ignored || looks_[k].missing == 0) continue;
      all += looks_[k].missing;
      (decisions_[k].use == Decision::Use::category ? texts : numbers) |= k != target_;
      if (counts.size() < 400)
        counts += fmt::format("{}{} {}", counts.empty() ? "" : ", ", printable(names_[k], 60),
                              looks_[k].missing);
    }
    if (all == 0) return;
    const std::string note = fmt::format("{}: {}", counted(all, "missing value"), counts);
    draft_.lines += fmt::format("  # {}\n", note);
    draft_.decisions.push_back(
        note + (numbers ? "; the column's mean takes their place" : "") +
        (!texts ? ""
         : own  ? "; a row without a text counts as having none of the column's values"
                : "; in a column of text, the share of each value takes their place"));
    add("  missing: mean", "or drop, which leaves their rows out");
    if (looks_[target_].missing > 0)
      draft_.decisions.push_back(fmt::format("{} without {} left out",
                                             counted(looks_[target_].missing, "row"),
                                             shown(names_[target_])));
  }

  /// Writes `key: [a, b]`, after a comment line with the reason for each column.
  void write_list(const std::string& key, Decision::Use use) {
    std::string list;
    for (std::size_t k = 0; k < names_.size(); ++k) {
      if (k == target_ || decisions_[k].use != use) continue;
      list += (list.empty() ? "" : ", ") + draft_word(names_[k]);
      note(k);
    }
    if (!list.empty()) add(fmt::format("  {}: [{}]", key, list), "");
  }

  /// Writes the list of categories if the default rule would miss one, and notes about some
  /// columns.
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
  /// Lowers the rate for a linear model on scaled columns, whose curvature is at most their number.
  /// Steps at the point before mixing by W are stable below (1 + least eigenvalue of W) /
  /// curvature; that eigenvalue is -1/3 for a ring with Metropolis weights.
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

DataDraft data_draft(const DraftAnswers& answers, const std::string& folder) {
  if (answers.data == "digits")
    return {.lines = draft_line("data: { kind: digits, train: 6000, test: 1000 }",
                                "drawn by the program itself"),
            .model = "{ kind: mlp, hidden: [64] }",
            .model_note = "or lenet5, for pictures"};
  if (no_folder(answers.data).empty()) return folder_draft(answers, folder);
  return is_text(answers) ? text_draft(answers, folder) : TableDraft(answers, folder).draft();
}

}  // namespace

void check_data(const DraftAnswers& answers) {
  const auto refuse = [](const char* option, const std::string& path, const std::string& help) {
    throw std::invalid_argument(fmt::format("--{}: {}; {}", option, printable(path, 200), help));
  };
  const bool own = answers.own_parts();
  const std::string first = first_table(answers);
  const bool folder = !own && (answers.data == "digits" || no_folder(answers.data).empty());
  if (!folder && !no_file(first).empty())
    refuse("data", "no such file" + (own ? ": " + first : " or folder: " + first),
           own ? "peer 0 trains on this machine, on this part of " + answers.data
               : "name a table, a folder of pictures, or `digits`");
  if (own && answers.test.empty())
    refuse("test", "missing",
           "all peers need one test set besides their own parts: `--test test.csv`");
  if (!answers.test.empty() && (folder || is_text(answers)))
    refuse("test", answers.test, "only a table has a test set of its own; leave the option out");
  if (!answers.test.empty() && !no_file(answers.test).empty())
    refuse("test", "no such file: " + answers.test, "name a table with the same columns");
}

/// Suggests enough epochs for 500 steps on a small table, but at most 200.
GoalQuestion goal_question(const DraftAnswers& answers) {
  GoalQuestion question{.examples = "`accuracy 0.9`, `1000 rounds`, `20 epochs`, `10 min`",
                        .usual = fmt::format("{} epochs", least_epochs)};
  try {
    if (answers.own_parts())
      return {.examples = "`accuracy 0.9`, `1000 rounds`, `10 min`", .usual = "1000 rounds"};
    if (!no_file(answers.data).empty()) return question;
    if (is_text(answers)) return {.examples = "`300 rounds`, `10 min`", .usual = "300 rounds"};
    if (!TableDraft(answers, ".").draft().classes)
      question.examples = "`1000 rounds`, `20 epochs`, `10 min`, `loss 0.4`";
    const std::vector<std::string> names = words_of(answers.machines);
    const double peers = count_in(names).value_or(static_cast<double>(names.size()));
    const double enough = enough_rounds * usual_batch * std::clamp(peers, 1.0, most_machines);
    const std::unique_ptr<RowSource> rows =
        open_rows(answers.data, {.header = !guess_header(answers.data).sure});
    double count = 1;  // stops at `enough`
    while (count < enough && rows->next()) ++count;
    const double epochs = std::ceil(enough / (count * (1 - held_out_percent / 100)));
    question.usual = fmt::format("{} epochs", std::clamp(epochs, least_epochs, most_epochs));
  } catch (const std::exception&) {
    return question;
  }
  return question;
}

FleetDraft fleet_draft(const DraftAnswers& answers, const std::string& folder) {
  const DataDraft data = data_draft(answers, folder);
  std::string text =
      "# Written by `grapevine init`. `grapevine explain KEY` describes a key,\n"
      "# `grapevine plan FILE` what this file means before anything is started.\n"
      "version: 1\n" +
      draft_line("seed: 1", "the same seed, the same bits") + machines_draft(answers.machines) +
      data.lines + draft_line("model: " + data.model, data.model_note) + "train:\n" +
      draft_line("  optimizer: " + data.optimizer, data.optimizer_note) +
      draft_line(fmt::format("  batch: {}", usual_batch), "of each peer") +
      draft_line("algorithm: d-psgd", "see `grapevine algorithms`") +
      draft_line("topology: ring", "see `grapevine graph list`") +
      draft_line("network: { latency: 1 ms, bandwidth: 1 Gbit }", "of `simulate` and `plan`") +
      goal_draft(answers, data.classes) +
      draft_line(fmt::format("evaluate: {{ every: {} }}", evaluations_of(answers)),
                 "a line on the screen");
  return {.text = std::move(text), .decisions = data.decisions};
}

std::string draft_line(const std::string& yaml, const std::string& comment) {
  if (comment.empty()) return yaml + "\n";
  constexpr std::size_t columns = 80, place = 39;
  const std::string gap(place - std::min(place, columns_of(yaml)), ' ');
  const std::string text = fmt::format("{}{} # {}\n", yaml, gap, comment);
  if (columns_of(text) <= columns + 1) return text;
  const std::string indent(yaml.find_first_not_of(' '), ' ');
  return fmt::format("{}# {}\n{}\n", indent, comment, yaml);
}

std::string draft_word(const std::string& text) {
  const auto plain = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '/' || c == '.';
  };
  const bool simple = !text.empty() && std::isalpha(static_cast<unsigned char>(text[0])) != 0 &&
                      std::ranges::all_of(text, plain);
  return simple ? text : Json(text).dump();
}

std::string draft_path(const std::string& path, const std::string& folder) {
  const fs::path absolute = fs::absolute(path).lexically_normal();
  const fs::path base = fs::absolute(folder).lexically_normal();
  const std::string inside = absolute.lexically_relative(base).string();
  return inside.empty() || inside.starts_with("..") ? absolute.string() : inside;
}

}  // namespace gv
