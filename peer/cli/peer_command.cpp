#include <cmath>
#include <filesystem>

#include <fmt/format.h>

#include "peer/cli/fleet_options.h"
#include "peer/launch/peer_process.h"
#include "peer/report/metrics.h"
#include "peer/report/screen.h"

namespace gv::cli {
namespace {

struct PeerOptions {
  FleetOptions file;
  PeerId id = 0;
  double wait_seconds = 120;
  std::string launched;
  PeerPast past;
  double clock_seconds = 0;
};

Time time_of(double seconds) {
  return std::chrono::duration_cast<Time>(std::chrono::duration<double>(seconds));
}

/// A fleet of one: the same columns, about this peer alone.
FleetRecord alone(const Report& report, Time time) {
  FleetRecord record;
  record.round = report.round;
  record.peers = 1;
  record.time = time;
  record.mean = report.evaluation;
  record.train_loss = report.train_loss;
  record.loss_local = report.evaluation.loss;
  record.accuracy_min = record.accuracy_max = report.evaluation.accuracy;
  record.sent_bytes = report.sent_bytes;
  return record;
}

void save(const Assembly& fleet, const Report& report) {
  const std::string folder = fmt::format("{}/peers/{:03}", fleet.fleet.output_dir, report.peer);
  std::filesystem::create_directories(folder);
  write_safetensors(folder + "/model.safetensors",
                    fleet.parameters,
                    report.model->floats(),
                    {{"fleet", fleet.fleet.name},
                     {"peer", std::to_string(report.peer)},
                     {"rounds", std::to_string(report.round)}});
  fmt::print(stderr, "saved {}/model.safetensors\n", folder);
}

int run_by_hand(const Assembly& fleet, const PeerOptions& options, const PeerParts& parts) {
  const auto began = std::chrono::steady_clock::now();
  if (!options.file.json) fmt::print("{}\n", table_header());
  bool finite = true;
  ManualPeerScreen screen;
  screen.log = [](const std::string& line) { fmt::print(stderr, "{}\n", line); };
  screen.on_report = [&](const Report& report) {
    const FleetRecord record = alone(report, std::chrono::steady_clock::now() - began);
    fmt::print("{}\n", options.file.json ? evaluate_line(record) : table_row(record));
    std::fflush(stdout);
    if (!report.last) return;
    finite = std::isfinite(report.evaluation.loss);
    save(fleet, report);
  };
  const Time wait = time_of(options.wait_seconds);
  const int code = run_manual_peer(fleet, options.id, wait, options.past, parts, screen);
  if (finite || code != exit_code::done) return code;
  fmt::print(stderr, "{}\n", loss_not_finite);
  return exit_code::failed;
}

int run_peer(PeerOptions options, const PeerParts& parts) {
  options.past.clock = time_of(options.clock_seconds);
  const Assembly fleet = assemble(options.file, options.id);
  if (options.id >= fleet.fleet.size()) {
    throw std::invalid_argument(fmt::format(
        "--id {}: {} has peers 0 .. {}", options.id, options.file.file, fleet.fleet.size() - 1));
  }
  if (!options.launched.empty())
    return run_launched_peer(fleet, options.id, options.launched, options.past, parts);
  tell_devices(fleet, {options.id});
  return run_by_hand(fleet, options, parts);
}

void peer_options(Options& options, PeerOptions& arguments) {
  add_fleet_options(options, arguments.file).required();
  options.value("--id", arguments.id, "Which peer: 0 .. n - 1").required();
  options.value("--wait", arguments.wait_seconds, "Seconds to wait for the neighbours to appear")
      .range(0.1, 1e6)
      .show_default();
  options.flag("--rejoin",
               arguments.past.rejoin,
               "Go on from this peer's newest checkpoint, or else from a neighbour's model, "
               "without waiting for neighbours that are not there");
  options.value("--from", arguments.past.from, "Go on from this peer's checkpoint of that round");
  options.value("--launched", arguments.launched, "").hide();
  options.value("--clock", arguments.clock_seconds, "").range(0.0, 1e9).hide();
}

}  // namespace

Command peer_command(const PeerParts& parts) {
  const auto run = [parts](const PeerOptions& options) { return run_peer(options, parts); };
  return command<PeerOptions>(
      "peer",
      "Run one peer of a fleet file in the foreground: on another machine, or by hand",
      "  on each machine, with the same file and its addresses under `hosts`:\n"
      "  grapevine peer lan.yaml --id 0\n"
      "  after its machine was started anew, while the others train on:\n"
      "  grapevine peer lan.yaml --id 0 --rejoin",
      peer_options,
      run);
}

}  // namespace gv::cli
