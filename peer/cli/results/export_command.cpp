#include <algorithm>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "peer/cli/command.h"
#include "peer/cli/results/exporter.h"
#include "peer/show/live/run_finder.h"

namespace gv::cli {
namespace {

struct ExportArguments {
  std::vector<std::string> runs;
  std::vector<std::string> places = std::vector<std::string>(exporters().size());
  bool json = false;
};

/// A chosen row, and its destination.
struct Asked {
  const Exporter& row;
  const std::string& place;
};

std::vector<Asked> asked(const ExportArguments& arguments) {
  std::vector<Asked> all;
  for (std::size_t k = 0; k < exporters().size(); ++k)
    if (!arguments.places[k].empty()) all.push_back({exporters()[k], arguments.places[k]});
  return all;
}

/// Returns "--csv FILE, --tensorboard DIR or --onnx FILE".
std::string choices() {
  std::string text;
  for (const Exporter& row : exporters())
    text += fmt::format("{}{} {}",
                        text.empty()                  ? ""
                        : &row == &exporters().back() ? " or "
                                                      : ", ",
                        row.option, row.place);
  return text;
}

void check_arguments(const ExportArguments& arguments) {
  const std::vector<Asked> all = asked(arguments);
  if (all.empty())
    throw std::invalid_argument(fmt::format("export: {} selects what is exported", choices()));
  for (const Asked& one : all) {
    if (one.row.prints && one.place == "-" && arguments.json)
      throw std::invalid_argument(
          fmt::format("export: {} - and --json would both write to stdout", one.row.option));
    if (one.row.model != nullptr && arguments.runs.size() > 1)
      throw std::invalid_argument(
          fmt::format("export: {} writes one model; name one RUN", one.row.option));
  }
}

/// Returns the folder of a sweep, or of a run, since find_run() knows only runs.
std::string folder_of(const std::string& named) {
  return std::filesystem::is_directory(named + "/trials") ? named : find_run(named);
}

void export_evaluations(const ExportArguments& arguments, Written& written) {
  const std::vector<Asked> all = asked(arguments);
  if (std::ranges::none_of(all, [](const Asked& one) { return one.row.runs != nullptr; })) return;
  std::vector<ExportedRun> runs;
  for (const std::string& named : arguments.runs)
    for (const std::string& run : runs_of(folder_of(named))) runs.push_back(read_run(run));
  for (const bool prints : {false, true})  // the row that may print to stdout is last
    for (const Asked& one : all)
      if (one.row.runs != nullptr && one.row.prints == prints)
        one.row.runs(one.place, runs, written);
  std::size_t rows = 0;
  for (const ExportedRun& run : runs) rows += run.rows.size();
  written.said["rows"] = rows;
  for (const std::string& path : written.files) written.screen += path + "\n";
  written.screen +=
      fmt::format("{} evaluations of {} run{}\n", rows, runs.size(), runs.size() == 1 ? "" : "s");
}

/// Writes the models of the chosen rows. The named path may be a model itself.
void export_models(const ExportArguments& arguments, Written& written) {
  const std::string& run = arguments.runs.front();
  for (const Asked& one : asked(arguments))
    if (one.row.model != nullptr)
      one.row.model(
          one.place,
          std::filesystem::is_regular_file(run) ? run : find_run(run) + "/model.safetensors",
          written);
}

/// Prints the names of written files, unless stdout is in use.
void tell(const ExportArguments& arguments, Written& written) {
  const bool printed = std::ranges::any_of(
      asked(arguments), [](const Asked& one) { return one.row.prints && one.place == "-"; });
  if (!arguments.json && !printed) fmt::print("{}", written.screen);
  written.screen.clear();
}

int export_runs(const ExportArguments& arguments) {
  check_arguments(arguments);
  Written written{.files = {}, .said = Json{{"event", "export"}}};
  export_evaluations(arguments, written);
  tell(arguments, written);
  export_models(arguments, written);
  tell(arguments, written);
  written.said["files"] = written.files;
  if (arguments.json) console::print(written.said);
  return exit_code::done;
}

void export_options(Options& options, ExportArguments& arguments) {
  options
      .value("RUN", arguments.runs,
             "Run folders, folders of sweeps, or names in runs/; with --onnx also a "
             "model.safetensors")
      .required();
  for (std::size_t k = 0; k < exporters().size(); ++k) {
    const Exporter& row = exporters()[k];
    options.value(row.option, arguments.places[k], row.help).call_values(row.place);
  }
  options.json(arguments.json);
}

}  // namespace

Command export_command() {
  return command(
      "export", "Write runs for a spreadsheet or for TensorBoard, or a model as ONNX",
      "  grapevine export runs/fashion-ring8 --csv fashion.csv\n"
      "  grapevine export runs/which --csv which.csv   (a sweep: its axes are columns)\n"
      "  grapevine export runs/* --csv - | head\n"
      "  grapevine export runs/* --tensorboard logs   (then: tensorboard --logdir logs)\n"
      "  grapevine export runs/fashion-ring8 --onnx fashion.onnx",
      export_options, export_runs);
}

}  // namespace gv::cli
