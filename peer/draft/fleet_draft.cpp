#include "peer/draft/fleet_draft.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <vector>

#include <fmt/format.h>

#include "optim/data/field.h"
#include "optim/data/table/row_source.h"
#include "optim/data/table/table.h"
#include "optim/printable.h"
#include "peer/fleet/named_path.h"
#include "peer/json/json.h"

namespace gv {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t most_machines = 1000;
constexpr double usual_rate = 0.05;
constexpr double usual_batch = 16;
constexpr double held_out_percent = 20;
constexpr double enough_rounds = 500;
constexpr double most_epochs = 200, least_epochs = 10;

/// A line of the file, and why it stands there: behind it, or above it where it would be too long.
std::string line(const std::string& yaml, const std::string& comment) {
  if (comment.empty()) return yaml + "\n";
  constexpr std::size_t columns = 80;
  const std::string text = fmt::format("{:<39} # {}\n", yaml, comment);
  if (text.size() <= columns + 1) return text;
  const std::string indent(yaml.find_first_not_of(' '), ' ');
  return fmt::format("{}# {}\n{}\n", indent, comment, yaml);
}

/// In double quotes, in which YAML takes JSON's escapes; a plain word stays as it is.
std::string word(const std::string& text) {
  const auto plain = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '/' || c == '.';
  };
  const bool simple = !text.empty() && std::isalpha(static_cast<unsigned char>(text[0])) != 0 &&
                      std::ranges::all_of(text, plain);
  return simple ? text : Json(text).dump();
}

/// The data, and the model that usually learns them.
struct DataDraft {
  std::string lines;
  std::string model;
  std::string model_note;
  bool classes = true;
  double rate = usual_rate;
};

std::string relative_path(const std::string& path, const std::string& folder) {
  const fs::path absolute = fs::absolute(path).lexically_normal();
  const fs::path base = fs::absolute(folder).lexically_normal();
  const std::string inside = absolute.lexically_relative(base).string();
  return inside.empty() || inside.starts_with("..") ? absolute.string() : inside;
}

/// Of a linear model on scaled columns, of which the curvature is at most their number: steps at
/// the old point beside mixing by W stay bounded below (1 + the least eigenvalue of W) / curvature,
/// and a ring of Metropolis weights has -1/3.
double regression_rate(std::size_t columns) {
  return std::min(usual_rate, 0.5 / static_cast<double>(columns));
}

std::string target_of(const DraftAnswers& answers, const RowSource& rows) {
  return answers.target.empty() ? rows.names().back() : answers.target;
}

DataDraft table_draft(const DraftAnswers& answers, const std::string& folder) {
  const std::unique_ptr<RowSource> rows = open_rows(answers.data);
  const std::vector<std::string>& names = rows->names();
  const std::string target = target_of(answers, *rows);
  if (std::ranges::find(names, target) == names.end())
    throw std::invalid_argument(
        fmt::format("--target: {} has no column {}", printable(answers.data, 200), shown(target)));
  const TaskGuess guess = guess_task(answers.data, target);
  DataDraft draft;
  draft.classes = !guess.regression;
  draft.lines =
      "data:\n  kind: table\n" +
      line(fmt::format("  file: {}", word(relative_path(answers.data, folder))), "") +
      line(fmt::format("  target: {}", word(target)),
           answers.target.empty() ? "the last column: is it the right one?"
                                  : "the column that is to be told") +
      line(fmt::format("  task: {}", guess.regression ? "regression" : "classification"),
           guess.why) +
      line(fmt::format("  held_out: {} %", held_out_percent), "drawn at random, for testing") +
      line("  # missing: mean", "where some values are missing; or drop");
  draft.model = guess.regression ? "linear" : "{ kind: mlp, hidden: [32] }";
  draft.model_note =
      guess.regression ? "linear regression" : "or softmax, which has no hidden layer";
  if (guess.regression) draft.rate = regression_rate(names.size());
  return draft;
}

DataDraft folder_draft(const DraftAnswers& answers, const std::string& folder) {
  const fs::path dir = answers.data;
  const bool idx =
      fs::exists(dir / "train-images-idx3-ubyte") || fs::exists(dir / "train-images-idx3-ubyte.gz");
  const std::string place = word(relative_path(answers.data, folder));
  DataDraft draft;
  draft.lines = fmt::format("data:\n  kind: {}\n", idx ? "idx" : "images") +
                line(fmt::format("  dir: {}", place),
                     idx ? "the four files of the MNIST family" : "one folder for each class");
  if (!idx) draft.lines += line("  held_out: 20 %", "drawn at random, for testing");
  draft.model = "{ kind: mlp, hidden: [128] }";
  draft.model_note = "or lenet5 or resnet20, for pictures";
  return draft;
}

DataDraft data_draft(const DraftAnswers& answers, const std::string& folder) {
  if (answers.data == "digits")
    return {.lines = line("data: { kind: digits, train: 6000, test: 1000 }",
                          "drawn by the program itself"),
            .model = "{ kind: mlp, hidden: [64] }",
            .model_note = "or lenet5, for pictures"};
  if (no_folder(answers.data).empty()) return folder_draft(answers, folder);
  if (no_file(answers.data).empty()) return table_draft(answers, folder);
  throw std::invalid_argument(fmt::format(
      "--data: no such file or folder: {}; name a table, a folder of pictures, or `digits`",
      printable(answers.data, 200)));
}

std::vector<std::string> words_of(std::string text) {
  std::ranges::replace(text, ',', ' ');
  std::istringstream in(text);
  std::vector<std::string> words;
  for (std::string next; in >> next;) words.push_back(next);
  return words;
}

bool is_host(const std::string& name) {
  return name.size() <= 200 && name[0] != '-' && std::ranges::all_of(name, [](char c) {
           return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '_' ||
                  c == '.';
         });
}

std::string machines_draft(const std::string& machines) {
  const std::vector<std::string> names = words_of(machines);
  if (names.size() == 1)
    if (const auto count = number_of<std::uint32_t>(names[0]);
        count && *count >= 1 && *count <= most_machines)
      return line(fmt::format("peers: {}", *count), "processes on this machine");
  if (names.empty() || names.size() > most_machines || !std::ranges::all_of(names, is_host) ||
      number_of<double>(names[0]))
    throw std::invalid_argument(
        fmt::format("--machines: `{}` is neither a number of peers, 1 to 1000, nor names of "
                    "machines; say 4, or anna,ben",
                    printable(machines, 100)));
  std::string hosts = "hosts:", peers = "peers:";
  for (const std::string& name : names) {
    hosts += fmt::format("\n  {}: {{}}", word(name));
    peers += fmt::format("\n  - {{ host: {}, count: 1 }}", word(name));
  }
  return "# ssh must get to each of them without a password, and the data must lie there at the "
         "same\n"
         "# path: `grapevine doctor` looks.\n" +
         hosts + "\n" + peers + "\n";
}

[[noreturn]] void refuse_goal(const std::string& goal) {
  throw std::invalid_argument(fmt::format(
      "--goal: `{}` is no goal; say `accuracy 0.9`, `loss 0.4`, `1000 rounds`, `20 epochs` or "
      "`10 min`",
      printable(goal, 100)));
}

double number_of_peers(const std::string& machines) {
  const std::vector<std::string> names = words_of(machines);
  const auto count = names.size() == 1 ? number_of<std::uint32_t>(names[0]) : std::nullopt;
  const auto most = static_cast<double>(most_machines);
  return std::clamp(count ? *count : static_cast<double>(names.size()), 1.0, most);
}

std::string goal_draft(const std::string& goal, bool classes) {
  const std::vector<std::string> words = words_of(goal);
  if (words.size() != 2) refuse_goal(goal);
  if (words[0] == "accuracy" || words[0] == "loss") {
    const auto value = number_of<double>(words[1]);
    if (!value || !(*value >= 0) || (words[0] == "accuracy" && *value > 1)) refuse_goal(goal);
    if (words[0] == "accuracy" && !classes)
      throw std::invalid_argument(
          "--goal: a regression has no accuracy; say a loss, such as "
          "`loss 0.4`");
    return line("stop:", "whichever comes first") +
           line(fmt::format("  target: {{ {}: {} }}", words[0], words[1]), "of the mean model") +
           line("  epochs: 200", "passes over a peer's part of the data");
  }
  const auto amount = number_of<double>(words[0]);
  if (!amount || !(*amount > 0)) refuse_goal(goal);
  for (const char* unit : {"rounds", "epochs"})
    if (words[1] == unit) return line(fmt::format("stop: {{ {}: {} }}", unit, words[0]), "");
  for (const char* unit : {"s", "min", "h"})
    if (words[1] == unit) return line(fmt::format("stop: {{ time: {} {} }}", words[0], unit), "");
  refuse_goal(goal);
}

/// Ten evaluations where the goal is a number of epochs.
std::uint64_t epochs_between(const std::string& goal) {
  const std::vector<std::string> words = words_of(goal);
  const auto epochs =
      words.size() == 2 && words[1] == "epochs" ? number_of<double>(words[0]) : std::nullopt;
  return epochs ? static_cast<std::uint64_t>(std::clamp(*epochs / 10, 1.0, 1e6)) : 1;
}

}  // namespace

/// So many epochs that a small table takes 500 steps, too; beyond 200 another goal is wanted.
GoalQuestion goal_question(const DraftAnswers& answers) {
  GoalQuestion question{.examples = "`accuracy 0.9`, `1000 rounds`, `20 epochs`, `10 min`",
                        .usual = fmt::format("{} epochs", least_epochs)};
  try {
    if (!no_file(answers.data).empty()) return question;
    const std::unique_ptr<RowSource> rows = open_rows(answers.data);
    if (guess_task(answers.data, target_of(answers, *rows)).regression)
      question.examples = "`1000 rounds`, `20 epochs`, `10 min`, `loss 0.4`";
    const double enough = enough_rounds * usual_batch * number_of_peers(answers.machines);
    double count = 1;  // as far as it matters
    while (count < enough && rows->next()) ++count;
    const double epochs = std::ceil(enough / (count * (1 - held_out_percent / 100)));
    question.usual = fmt::format("{} epochs", std::clamp(epochs, least_epochs, most_epochs));
  } catch (const std::exception&) {
    return question;
  }
  return question;
}

std::string fleet_draft(const DraftAnswers& answers, const std::string& folder) {
  const DataDraft data = data_draft(answers, folder);
  return "# Written by `grapevine init`. `grapevine explain KEY` tells what a key means,\n"
         "# `grapevine plan FILE` what this file means before anything is started.\n"
         "version: 1\n" +
         line("seed: 1", "the same seed, the same bits") + machines_draft(answers.machines) +
         data.lines + line("model: " + data.model, data.model_note) + "train:\n" +
         line(fmt::format("  optimizer: {{ kind: sgd, lr: {:.2g} }}", data.rate),
              data.rate < usual_rate ? "1 / (2 columns): a larger one may diverge"
                                     : "the learning rate is the first to tune") +
         line(fmt::format("  batch: {}", usual_batch), "of each peer") +
         line("algorithm: d-psgd", "see `grapevine algorithms`") +
         line("topology: ring", "see `grapevine graph list`") +
         line("network: { latency: 1 ms, bandwidth: 1 Gbit }", "of `simulate` and `plan`") +
         goal_draft(answers.goal, data.classes) +
         line(fmt::format("evaluate: {{ every: {} epochs }}", epochs_between(answers.goal)),
              "a line on the screen");
}

}  // namespace gv
