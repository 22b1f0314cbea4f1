#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "peer/cli/command.h"
#include "peer/cli/written_file.h"
#include "peer/fleet/json/json.h"
#include "peer/model/onnx/onnx_model.h"
#include "peer/record/export/csv.h"
#include "peer/record/export/exported_run.h"
#include "peer/record/export/tensorboard.h"
#include "peer/runtime/exit_code.h"
#include "peer/show/live/run_finder.h"

namespace gv::cli {
namespace {

struct ExportArguments {
  std::vector<std::string> runs;
  std::string csv;
  std::string tensorboard;
  std::string onnx;
  bool json = false;
};

struct Written {
  std::vector<std::string> files;
  Json said;  ///< beside their names
};

void write_csv(const std::string& path, const std::vector<ExportedRun>& runs) {
  const std::string text = csv_of(runs);
  if (path == "-") {
    fmt::print("{}", text);
    return;
  }
  write_file(path, text);
}

void check_arguments(const ExportArguments& arguments) {
  if (arguments.csv.empty() && arguments.tensorboard.empty() && arguments.onnx.empty())
    throw std::invalid_argument(
        "export: --csv FILE, --tensorboard DIR or --onnx FILE says what is wanted");
  if (arguments.csv == "-" && arguments.json)
    throw std::invalid_argument("export: --csv - and --json would both write to stdout");
  if (!arguments.onnx.empty() && arguments.runs.size() > 1)
    throw std::invalid_argument("export: --onnx writes one model; name one RUN");
}

/// find_run() knows runs alone.
std::string folder_of(const std::string& named) {
  return std::filesystem::is_directory(named + "/trials") ? named : find_run(named);
}

void export_evaluations(const ExportArguments& arguments, Written& written) {
  std::vector<ExportedRun> runs;
  for (const std::string& named : arguments.runs)
    for (const std::string& run : runs_of(folder_of(named))) runs.push_back(read_run(run));
  std::size_t rows = 0;
  for (const ExportedRun& run : runs) {
    rows += run.rows.size();
    if (!arguments.tensorboard.empty())
      written.files.push_back(write_event_file(arguments.tensorboard, run));
  }
  if (!arguments.csv.empty()) write_csv(arguments.csv, runs);
  if (!arguments.csv.empty() && arguments.csv != "-") written.files.push_back(arguments.csv);
  written.said["rows"] = rows;
  if (arguments.json || arguments.csv == "-") return;
  for (const std::string& path : written.files) fmt::print("{}\n", path);
  fmt::print("{} evaluations of {} run{}\n", rows, runs.size(), runs.size() == 1 ? "" : "s");
}

/// `run` may be a model itself.
void export_model(const ExportArguments& arguments, Written& written) {
  const std::string& run = arguments.runs.front();
  const bool file = std::filesystem::is_regular_file(run);
  const SavedModel model = load_model(file ? run : find_run(run) + "/model.safetensors");
  OnnxAbout about;
  write_file(arguments.onnx, onnx_model(model, about));
  written.files.push_back(arguments.onnx);
  written.said["onnx"] =
      Json{{"opset", onnx_opset}, {"input", about.input}, {"output", about.output}};
  if (arguments.json || arguments.csv == "-") return;
  fmt::print("{}\n{}, {} parameters; ONNX, opset {}, float32\n  in   {}\n  out  {}\n",
             arguments.onnx,
             model.card.model.kind,
             model.x.size(),
             onnx_opset,
             about.input,
             about.output);
}

int export_runs(const ExportArguments& arguments) {
  check_arguments(arguments);
  Written written{.files = {}, .said = Json{{"event", "export"}}};
  if (!arguments.csv.empty() || !arguments.tensorboard.empty())
    export_evaluations(arguments, written);
  if (!arguments.onnx.empty()) export_model(arguments, written);
  written.said["files"] = written.files;
  if (arguments.json) fmt::print("{}\n", written.said.dump());
  return exit_code::done;
}

void export_options(Options& options, ExportArguments& arguments) {
  options
      .value("RUN",
             arguments.runs,
             "Run folders, folders of sweeps, or names in runs/; with --onnx also a "
             "model.safetensors")
      .required();
  options.value("--csv", arguments.csv, "One table of all runs; - for stdout").call_values("FILE");
  options.value("--tensorboard", arguments.tensorboard, "An event file for each run, below DIR")
      .call_values("DIR");
  options.value("--onnx", arguments.onnx, "The run's model for other runtimes (opset 17)")
      .call_values("FILE");
  options.json(arguments.json);
}

}  // namespace

Command export_command() {
  return command(
      "export",
      "Write runs for a spreadsheet or for TensorBoard, or a model as ONNX",
      "  grapevine export runs/fashion-ring8 --csv fashion.csv\n"
      "  grapevine export runs/which --csv which.csv   (a sweep: its axes are columns)\n"
      "  grapevine export runs/* --csv - | head\n"
      "  grapevine export runs/* --tensorboard logs   (then: tensorboard --logdir logs)\n"
      "  grapevine export runs/fashion-ring8 --onnx fashion.onnx",
      export_options,
      export_runs);
}

}  // namespace gv::cli
