#include <chrono>
#include <stdexcept>
#include <string>
#include <thread>

#include <fmt/format.h>

#include "peer/cli/command.h"
#include "peer/record/report/screen.h"
#include "peer/show/live/live_client.h"
#include "peer/show/live/run_finder.h"

namespace gv::cli {
namespace {

struct StopArguments {
  std::string run;
  bool json = false;
};

/// Waits until the run does not answer any more: its launcher kills peers that do not stop by
/// themselves (launch.grace).
void await_end(const std::string& folder) {
  ProgressLine progress;
  for (auto view = view_of_run(folder); view; view = view_of_run(folder)) {
    progress.update(fmt::format("{}: {} at round {}", folder, word_of(view->phase), view->round));
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
}

int stop_run(const StopArguments& arguments) {
  const std::string folder = find_run(arguments.run);
  if (!order_run(folder, "/stop"))
    throw std::runtime_error(folder + ": this run is no longer running");
  await_end(folder);
  if (arguments.json) {
    const auto round = common_checkpoint(folder);
    console::print({{"event", "stopped"}, {"folder", folder}, {"checkpoint", round}});
  } else {
    fmt::print("{}\n", end_of_run(folder));
  }
  return exit_code::done;
}

void stop_options(Options& options, StopArguments& arguments) {
  options.value("RUN", arguments.run, "Folder of a run, or its name in runs/").required();
  options.json(arguments.json);
}

}  // namespace

Command stop_command() {
  return command("stop", "Stop a run like Ctrl-C does: it finishes the round, saves and exits",
                 "  grapevine stop runs/fashion-ring8\n"
                 "  grapevine checkpoint fashion-ring8 && grapevine stop fashion-ring8",
                 stop_options, stop_run);
}

}  // namespace gv::cli
