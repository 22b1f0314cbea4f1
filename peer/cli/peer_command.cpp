#include <filesystem>
#include <memory>

#include <fmt/format.h>

#include "peer/cli/command.h"
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
};

/// A fleet of one: the same columns, about this peer alone.
FleetRecord alone(const Report& report, Time time) {
  FleetRecord record;
  record.round = report.step;
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
                     {"rounds", std::to_string(report.step)}});
  fmt::print(stderr, "saved {}/model.safetensors\n", folder);
}

int run_by_hand(const Assembly& fleet, const PeerOptions& options) {
  const auto began = std::chrono::steady_clock::now();
  if (!options.file.json) fmt::print("{}\n", table_header());
  ManualPeerScreen screen;
  screen.log = [](const std::string& line) { fmt::print(stderr, "{}\n", line); };
  screen.on_report = [&](const Report& report) {
    const FleetRecord record = alone(report, std::chrono::steady_clock::now() - began);
    fmt::print("{}\n", options.file.json ? evaluate_line(record) : table_row(record));
    std::fflush(stdout);
    if (report.last) save(fleet, report);
  };
  const auto wait =
      std::chrono::duration_cast<Time>(std::chrono::duration<double>(options.wait_seconds));
  return run_manual_peer(fleet, options.id, wait, options.past, screen);
}

int run_peer(const PeerOptions& options) {
  const Assembly fleet = assemble(options.file);
  if (options.id >= fleet.fleet.size()) {
    throw std::invalid_argument(fmt::format(
        "--id {}: {} has peers 0 .. {}", options.id, options.file.file, fleet.fleet.size() - 1));
  }
  if (!options.launched.empty())
    return run_launched_peer(fleet, options.id, options.launched, options.past);
  tell_devices(fleet, {options.id});
  return run_by_hand(fleet, options);
}

}  // namespace

void add_peer(CLI::App& app, Outcome& outcome) {
  CLI::App* command = app.add_subcommand(
      "peer", "Run one peer of a fleet file in the foreground: on another machine, or by hand");
  auto options = std::make_shared<PeerOptions>();
  add_fleet_options(*command, options->file);
  command->add_option("--id", options->id, "Which peer: 0 .. n - 1")->required();
  command
      ->add_option("--wait", options->wait_seconds, "Seconds to wait for the neighbours to appear")
      ->check(CLI::Range(0.1, 1e6))
      ->capture_default_str();
  command->add_flag("--rejoin",
                    options->past.rejoin,
                    "Go on from this peer's newest checkpoint, or else from a neighbour's model, "
                    "without waiting for neighbours that are not there");
  command->add_option(
      "--from", options->past.from, "Go on from this peer's checkpoint of that round");
  command->add_option("--launched", options->launched)->group("");
  add_examples(*command,
               "  on each machine, with the same file and its addresses under `hosts`:\n"
               "  grapevine peer lan.yaml --id 0\n"
               "  after its machine was started anew, while the others train on:\n"
               "  grapevine peer lan.yaml --id 0 --rejoin");
  command->callback([options, &outcome] { outcome.code = run_peer(*options); });
}

}  // namespace gv::cli
