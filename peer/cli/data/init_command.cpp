#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <stdexcept>

#include <fmt/format.h>
#include <unistd.h>

#include "optim/printable.h"
#include "peer/cli/fleet_options.h"
#include "peer/fleet/draft/fleet_draft.h"
#include "peer/fleet/json/json.h"

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

void write_new(const std::string& path, const std::string& text) {
  std::ofstream out(path);
  out << text;
  out.close();
  if (!out) throw std::runtime_error(path + ": cannot be written");
}

/// Lists the decisions that the user may want to review.
std::string decisions_text(const std::vector<std::string>& decisions) {
  if (decisions.empty()) return "";
  std::string text = "; in the data:";
  for (const std::string& decision : decisions) text += "\n  " + printable(decision, 400);
  return text;
}

/// Removes a draft that cannot be read.
void check(const std::string& path) {
  try {
    assemble({.file = path, .sets = {}});
  } catch (const std::exception&) {
    std::error_code ignored;
    fs::remove(path, ignored);
    throw;
  }
}

int init(const InitArguments& given) {
  InitArguments arguments = given;
  if (fs::exists(arguments.file))
    throw std::invalid_argument(arguments.file +
                                " is there already; name another file, or remove it");
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
  write_new(arguments.file, draft.text);
  check(arguments.file);
  const std::string name = printable(arguments.file, 200);
  if (arguments.json)
    fmt::print("{}\n", Json{{"schema", "grapevine.init/1"},
                            {"file", arguments.file},
                            {"decisions", draft.decisions}}
                           .dump());
  else
    fmt::print(
        "wrote {0}{1}\n\ngrapevine data {2}      what it learns from\ngrapevine simulate {2}  a "
        "dry run in virtual time\ngrapevine run {2}       all peers for real\n",
        name, decisions_text(draft.decisions), shell_path(name));
  return exit_code::done;
}

void init_options(Options& options, InitArguments& arguments) {
  options.value("FILE", arguments.file, "Fleet file to write").show_default();
  options.value("--data", arguments.answers.data,
                "Training data: a table (CSV, NPY, NPZ, LIBSVM), a text (.txt), a folder of "
                "pictures by class, a folder of IDX files, or `digits`");
  options.value("--target", arguments.answers.target,
                "Column of a table to predict (default: the last column)");
  options.value("--machines", arguments.answers.machines,
                "Number of peers on this machine, or ssh names of machines: anna,ben");
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
