#include <stdexcept>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "peer/cli/command.h"
#include "peer/cli/written_file.h"
#include "peer/export/csv.h"
#include "peer/export/exported_run.h"
#include "peer/export/tensorboard.h"
#include "peer/json/json.h"
#include "peer/live/run_finder.h"
#include "peer/runtime/exit_code.h"

namespace gv::cli {
namespace {

struct ExportArguments {
  std::vector<std::string> runs;
  std::string csv;
  std::string tensorboard;
  bool json = false;
};

void write_csv(const std::string& path, const std::vector<ExportedRun>& runs) {
  const std::string text = csv_of(runs);
  if (path == "-") {
    fmt::print("{}", text);
    return;
  }
  write_file(path, text);
}

int export_runs(const ExportArguments& arguments) {
  if (arguments.csv.empty() && arguments.tensorboard.empty())
    throw std::invalid_argument("export: --csv FILE or --tensorboard DIR is required");
  if (arguments.csv == "-" && arguments.json)
    throw std::invalid_argument("export: --csv - and --json would both write to stdout");
  std::vector<ExportedRun> runs;
  for (const std::string& run : arguments.runs) runs.push_back(read_run(find_run(run)));
  std::size_t rows = 0;
  std::vector<std::string> written;
  for (const ExportedRun& run : runs) {
    rows += run.rows.size();
    if (!arguments.tensorboard.empty())
      written.push_back(write_event_file(arguments.tensorboard, run));
  }
  if (!arguments.csv.empty()) write_csv(arguments.csv, runs);
  if (!arguments.csv.empty() && arguments.csv != "-") written.push_back(arguments.csv);
  if (arguments.json) {
    fmt::print("{}\n", Json{{"event", "export"}, {"rows", rows}, {"files", written}}.dump());
  } else if (arguments.csv != "-") {
    for (const std::string& path : written) fmt::print("{}\n", path);
    fmt::print("{} evaluations of {} run{}\n", rows, runs.size(), runs.size() == 1 ? "" : "s");
  }
  return exit_code::done;
}

void export_options(Options& options, ExportArguments& arguments) {
  options.value("RUN", arguments.runs, "Run folders, or names in runs/").required();
  options.value("--csv", arguments.csv, "One table of all runs; - for stdout").call_values("FILE");
  options.value("--tensorboard", arguments.tensorboard, "An event file for each run, below DIR")
      .call_values("DIR");
  options.json(arguments.json);
}

}  // namespace

Command export_command() {
  return command("export",
                 "Write the evaluations of runs for a spreadsheet or for TensorBoard",
                 "  grapevine export runs/fashion-ring8 --csv fashion.csv\n"
                 "  grapevine export runs/* --csv - | head\n"
                 "  grapevine export runs/* --tensorboard logs   (then: tensorboard --logdir logs)",
                 export_options,
                 export_runs);
}

}  // namespace gv::cli
