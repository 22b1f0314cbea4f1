#include <algorithm>
#include <chrono>
#include <stdexcept>
#include <string>
#include <thread>

#include <fmt/format.h>

#include "optim/printable.h"
#include "peer/cli/command.h"
#include "peer/record/report/screen.h"
#include "peer/show/live/live_client.h"
#include "peer/show/live/run_finder.h"

namespace gv::cli {
namespace {

struct CheckpointArguments {
  std::string run;
  bool json = false;
};

constexpr auto between_looks = std::chrono::milliseconds(50);

/// Waits until every peer's file exists; files get their names when they are complete.
Round await_files(const std::string& folder, Round round) {
  constexpr int looks_after = 40;  // two seconds for the last file to be written
  ProgressLine progress;
  for (int past = 0; past < looks_after;) {
    if (const auto there = common_checkpoint(folder); there && *there >= round) return *there;
    const auto view = view_of_run(folder);
    if (!view || view->phase == FleetState::Phase::ended || view->round > round) ++past;
    if (view)
      progress.update(
          fmt::format("waiting for round {}: the slowest peer is at {}", round, view->round));
    std::this_thread::sleep_for(between_looks);
  }
  throw std::runtime_error(
      fmt::format("{}: no checkpoint: not every peer has one of round {}; some had passed it "
                  "already, or peers/*/stderr.log has the reason. Try it again",
                  folder, round));
}

int keep_checkpoint(const CheckpointArguments& arguments) {
  const std::string folder = find_run(arguments.run);
  const OrderAnswer answer = order_rounds(folder, "/checkpoint", &RunView::checkpoint);
  const Round round = await_files(folder, answer.round);
  if (arguments.json) {
    console::print({{"event", "checkpoint"}, {"folder", folder}, {"round", round}});
  } else {
    fmt::print(
        "{}: every peer has a checkpoint of round {}\nresume     grapevine run --resume {}\n",
        folder, round, shell_path(folder));
  }
  return exit_code::done;
}

void checkpoint_options(Options& options, CheckpointArguments& arguments) {
  options.value("RUN", arguments.run, "Folder of a run, or its name in runs/").required();
  options.json(arguments.json);
}

}  // namespace

Command checkpoint_command() {
  return command("checkpoint", "Make every peer of a live run write a checkpoint of the same round",
                 "  grapevine checkpoint runs/fashion-ring8\n"
                 "  grapevine run --resume runs/fashion-ring8   (after the run has ended)",
                 checkpoint_options, keep_checkpoint);
}

}  // namespace gv::cli
