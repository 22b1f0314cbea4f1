#include "peer/fleet/draft/fleet_draft.h"

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
#include "optim/data/table/table_plan.h"
#include "optim/printable.h"
#include "peer/fleet/draft/data_draft.h"
#include "peer/fleet/draft/draft_line.h"
#include "peer/fleet/draft/table_draft.h"
#include "peer/fleet/file/named_path.h"

namespace gv {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t most_machines = 1000;
constexpr double usual_batch = 16;
constexpr double enough_rounds = 500;
constexpr double most_epochs = 200, least_epochs = 10;

/// Returns whether the file's ending is that of a text, from which no table could be learnt.
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

DataDraft data_draft(const DraftAnswers& answers, const std::string& folder) {
  check_data(answers);
  if (answers.data == "digits")
    return {.lines = draft_line("data: { kind: digits, train: 6000, test: 1000 }",
                                "drawn by the program itself"),
            .model = "{ kind: mlp, hidden: [64] }",
            .model_note = "or lenet5, for pictures"};
  if (no_folder(answers.data).empty()) return folder_draft(answers, folder);
  return is_text(answers) ? text_draft(answers, folder) : table_draft(answers, folder);
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
      return draft_line(fmt::format("peers: {}", *count), "processes on this machine");
  if (names.empty() || names.size() > most_machines || !std::ranges::all_of(names, is_host) ||
      number_of<double>(names[0]))
    throw std::invalid_argument(
        fmt::format("--machines: `{}` is neither a number of peers, 1 to 1000, nor names of "
                    "machines; say 4, or anna,ben",
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
    return draft_line("stop:", "whichever comes first") +
           draft_line(fmt::format("  target: {{ {}: {} }}", words[0], words[1]),
                      "of the mean model") +
           draft_line("  epochs: 200", "passes over a peer's part of the data");
  }
  const auto amount = number_of<double>(words[0]);
  if (!amount || !(*amount > 0)) refuse_goal(goal);
  for (const char* unit : {"rounds", "epochs"})
    if (words[1] == unit) return draft_line(fmt::format("stop: {{ {}: {} }}", unit, words[0]), "");
  for (const char* unit : {"s", "min", "h"})
    if (words[1] == unit)
      return draft_line(fmt::format("stop: {{ time: {} {} }}", words[0], unit), "");
  refuse_goal(goal);
}

/// Ten evaluations where the goal is a number of epochs; of a text, whose epochs are long, every
/// 100 rounds.
std::string evaluations_of(const DraftAnswers& answers) {
  if (no_file(answers.data).empty() && is_text(answers)) return "100 rounds";
  const std::vector<std::string> words = words_of(answers.goal);
  const auto epochs =
      words.size() == 2 && words[1] == "epochs" ? number_of<double>(words[0]) : std::nullopt;
  return fmt::format(
      "{} epochs",
      epochs ? static_cast<std::uint64_t>(std::clamp(*epochs / 10, 1.0, 1e6)) : std::uint64_t{1});
}

}  // namespace

void check_data(const DraftAnswers& answers) {
  if (answers.data == "digits" || no_folder(answers.data).empty() || no_file(answers.data).empty())
    return;
  throw std::invalid_argument(fmt::format(
      "--data: no such file or folder: {}; name a table, a folder of pictures, or `digits`",
      printable(answers.data, 200)));
}

/// Takes so many epochs that a small table has 500 steps, too; beyond 200 another goal is wanted.
GoalQuestion goal_question(const DraftAnswers& answers) {
  GoalQuestion question{.examples = "`accuracy 0.9`, `1000 rounds`, `20 epochs`, `10 min`",
                        .usual = fmt::format("{} epochs", least_epochs)};
  try {
    if (!no_file(answers.data).empty()) return question;
    if (is_text(answers)) return {.examples = "`300 rounds`, `10 min`", .usual = "300 rounds"};
    if (!table_draft(answers, ".").classes)
      question.examples = "`1000 rounds`, `20 epochs`, `10 min`, `loss 0.4`";
    const double enough = enough_rounds * usual_batch * number_of_peers(answers.machines);
    const std::unique_ptr<RowSource> rows =
        open_rows(answers.data, {.header = !guess_header(answers.data).sure});
    double count = 1;  // as far as it matters
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
      "# Written by `grapevine init`. `grapevine explain KEY` tells what a key means,\n"
      "# `grapevine plan FILE` what this file means before anything is started.\n"
      "version: 1\n" +
      draft_line("seed: 1", "the same seed, the same bits") + machines_draft(answers.machines) +
      data.lines + draft_line("model: " + data.model, data.model_note) + "train:\n" +
      draft_line("  optimizer: " + data.optimizer, data.optimizer_note) +
      draft_line(fmt::format("  batch: {}", usual_batch), "of each peer") +
      draft_line("algorithm: d-psgd", "see `grapevine algorithms`") +
      draft_line("topology: ring", "see `grapevine graph list`") +
      draft_line("network: { latency: 1 ms, bandwidth: 1 Gbit }", "of `simulate` and `plan`") +
      goal_draft(answers.goal, data.classes) +
      draft_line(fmt::format("evaluate: {{ every: {} }}", evaluations_of(answers)),
                 "a line on the screen");
  return {.text = std::move(text), .decisions = data.decisions};
}

}  // namespace gv
