#include <cstdio>
#include <filesystem>
#include <iostream>
#include <stdexcept>

#include <fmt/format.h>
#include <unistd.h>

#include "optim/printable.h"
#include "peer/cli/fleet_options.h"
#include "peer/cli/written_file.h"
#include "peer/fleet/data/table_statistics.h"
#include "peer/fleet/draft/fleet_draft.h"
#include "peer/launch/agent/lan/lan.h"
#include "peer/runtime/assembly/load_data.h"

namespace gv::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t longest_answer = 4000;

struct InitArguments {
  std::string file = "fleet.yaml";
  DraftAnswers answers;
  bool json = false;
};

/// Asks a question. An empty answer or the end of the input means the default.
void ask(std::string& answer, const std::string& question, const std::string& usual) {
  if (!answer.empty()) return;
  fmt::print(stderr, "{} [{}] ", question, usual);
  std::string line;
  char c = 0;
  while (std::cin.get(c) && c != '\n' && line.size() < longest_answer) line += c;
  if (isatty(STDIN_FILENO) == 0) fmt::print(stderr, "{}\n", printable(line, 100));
  answer = line.empty() ? usual : line;
}

/// Lists the decisions that the user may want to review.
std::string decisions_text(const std::vector<std::string>& decisions) {
  if (decisions.empty()) return "";
  std::string text = "; in the data:";
  for (const std::string& decision : decisions) text += "\n  " + printable(decision, 400);
  return text;
}

/// Writes the draft, and the statistics of the own parts that are here. Removes both if the draft
/// cannot be read.
Fleet write_draft(const std::string& path, const std::string& text, const std::string& statistics) {
  try {
    write_file(path, text);
    if (!statistics.empty())
      write_file(
          statistics,
          statistics_text(pooled_facts(read_fleet(path, {"data.standardize=false"}, nullptr))));
    return assemble({.file = path, .sets = {}},
                    statistics.empty() ? std::nullopt : std::optional<PeerId>(0))
        .fleet;
  } catch (const std::exception&) {
    std::error_code ignored;
    fs::remove(path, ignored);
    if (!statistics.empty()) fs::remove(statistics, ignored);
    throw;
  }
}

/// Lists the commands that the new file is for.
std::string next_text(const Fleet& fleet, const std::string& file) {
  std::string text;
  const auto add = [&](const std::string& command, const char* what) {
    text += fmt::format("grapevine {:<{}}  {}\n", command + " " + file, file.size() + 9, what);
  };
  if (!lacks_parts(fleet.data, fleet.trainers())) {
    add("data", "what it learns from");
    add("simulate", "a dry run in virtual time");
    add("run", "all peers for real");
  }
  if (!is_lan(fleet)) add("lobby", "on several machines, which join by a code");
  return text;
}

int init(const InitArguments& given) {
  InitArguments arguments = given;
  require_new(arguments.file);
  ask(arguments.answers.data,
      "What is to be learnt? A table (CSV, NPY), a text, a folder of pictures, or `digits`",
      "digits");
  check_data(arguments.answers);
  ask(arguments.answers.machines,
      "On which machines? A number of peers on this one, or names for ssh", "4");
  const GoalQuestion goal = goal_question(arguments.answers);
  ask(arguments.answers.goal, "Until when? Such as " + goal.examples, goal.usual);
  const std::string folder = fs::absolute(arguments.file).parent_path().string();
  const FleetDraft draft = fleet_draft(arguments.answers, folder);
  const std::string statistics =
      arguments.answers.own_parts() ? folder + "/" + draft_statistics : "";
  if (!statistics.empty()) require_new(statistics);
  const Fleet fleet = write_draft(arguments.file, draft.text, statistics);
  const std::string name = printable(arguments.file, 200);
  if (arguments.json)
    console::print(
        {{"schema", "grapevine.init/1"}, {"file", arguments.file}, {"decisions", draft.decisions}});
  else
    fmt::print("wrote {}{}{}\n\n{}", name,
               statistics.empty() ? "" : fmt::format(" and {}", draft_statistics),
               decisions_text(draft.decisions), next_text(fleet, shell_path(name)));
  return exit_code::done;
}

void init_options(Options& options, InitArguments& arguments) {
  options.value("FILE", arguments.file, "Fleet file to write").show_default();
  options.value(
      "--data", arguments.answers.data,
      "Training data: a table (CSV, NPY, NPZ, LIBSVM), `part-{id}.csv` for a table of each "
      "peer's own, a text (.txt), a folder of pictures by class, a folder of IDX files, "
      "or `digits`");
  options.value("--target", arguments.answers.target,
                "Column of a table to predict (default: the last column)");
  options.value("--test", arguments.answers.test,
                "Table of the test set (default: 20 % of the rows of --data)");
  options.value(
      "--machines", arguments.answers.machines,
      "Number of peers on this machine or in a lobby, or ssh names of machines: anna,ben");
  options.value(
      "--goal", arguments.answers.goal,
      "Goal at which the run ends: accuracy 0.9 | loss 0.4 | 1000 rounds | 20 epochs | 10 min");
  options.json(arguments.json);
}

}  // namespace

Command init_command() {
  return command("init",
                 "Write a first fleet file from the answers to three questions, or from options",
                 "  grapevine init\n"
                 "  grapevine init mine.yaml --data flowers.csv --machines 4 --goal \"accuracy "
                 "0.9\"",
                 init_options, init);
}

}  // namespace gv::cli
