#include <algorithm>
#include <chrono>
#include <stdexcept>
#include <string>
#include <thread>

#include <fmt/format.h>

#include "peer/cli/command.h"
#include "peer/live/live_client.h"
#include "peer/live/run_finder.h"
#include "peer/report/screen.h"
#include "peer/runtime/exit_code.h"

namespace gv::cli {
namespace {

struct CheckpointArguments {
  std::string run;
  bool json = false;
};

constexpr auto between_looks = std::chrono::milliseconds(50);

[[noreturn]] void refuse(const std::string& folder, const std::string& why) {
  throw std::runtime_error(fmt::format("{}: no checkpoint: {}", folder, why));
}

/// The round that the launcher has chosen.
Round chosen_round(const std::string& folder, std::uint64_t order) {
  for (;;) {
    const auto view = view_of_run(folder);
    if (!view) refuse(folder, "the run has just ended");
    if (view->checkpoint && view->checkpoint->order >= order) {
      if (!view->checkpoint->refused.empty()) refuse(folder, view->checkpoint->refused);
      return view->checkpoint->round;
    }
    std::this_thread::sleep_for(between_looks);
  }
}

/// Until every peer's file is there; the files are renamed to their names when they are whole.
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
  refuse(folder,
         fmt::format("not every peer has one of round {}; some had passed it already, or they say "
                     "why in peers/*/stderr.log. Try it again",
                     round));
}

int keep_checkpoint(const CheckpointArguments& arguments) {
  const std::string folder = find_run(arguments.run);
  const auto order = order_run(folder, "/checkpoint");
  if (!order) throw std::runtime_error(folder + ": this run does not go on any more");
  const Round round = await_files(folder, chosen_round(folder, *order));
  if (arguments.json) {
    fmt::print("{}\n", Json{{"event", "checkpoint"}, {"folder", folder}, {"round", round}}.dump());
  } else {
    fmt::print(
        "{}: every peer has a checkpoint of round {}\nresume     grapevine run --resume {}\n",
        folder,
        round,
        folder);
  }
  return exit_code::done;
}

void checkpoint_options(Options& options, CheckpointArguments& arguments) {
  options.value("RUN", arguments.run, "A run's folder, or its name in runs/").required();
  options.json(arguments.json);
}

}  // namespace

Command checkpoint_command() {
  return command("checkpoint",
                 "Have every peer of a run that goes on keep a checkpoint of one round, soon",
                 "  grapevine checkpoint runs/fashion-ring8\n"
                 "  grapevine run --resume runs/fashion-ring8   (after the run has ended)",
                 checkpoint_options,
                 keep_checkpoint);
}

}  // namespace gv::cli
