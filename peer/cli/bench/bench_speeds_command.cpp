#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "optim/printable.h"
#include "peer/cli/fleet_options.h"
#include "peer/cli/this_program.h"
#include "peer/fleet/fleet.h"
#include "peer/launch/agent/lan/lan.h"
#include "peer/launch/launcher/peer_speeds.h"
#include "peer/launch/program/program_words.h"
#include "peer/record/report/screen.h"

namespace gv::cli {
namespace {

/// Returns the seconds of a step if the line has them; nothing for a line of another protocol.
std::optional<double> seconds_in(const std::string& line) {
  try {
    const asked::ProgramSays says = asked::parse_program(line);
    const auto* const introduction = std::get_if<asked::Introduction>(&says);
    return introduction != nullptr ? introduction->seconds_per_step : std::nullopt;
  } catch (const std::exception&) {
    return std::nullopt;
  }
}

/// Measures how fast the programs of a fleet take their steps, each in its peer's place and all at
/// the same time, so that peers share a machine as in training. Each program takes its number of
/// measured steps (GRAPEVINE_TASK=measure) without averaging. `flops` stays unknown. Throws
/// std::runtime_error with the peer and its last words if one ends too early.
std::vector<PeerSpeed> measure_programs(const Fleet& fleet,
                                        Places& places,
                                        const PeerSpeedOptions& options) {
  std::vector<double> seconds(fleet.trainers(), 0);
  MeasuringPeers peers(fleet.trainers(), {"--task", "measure"}, places, options,
                       [&](PeerId id, const std::string& line) {
                         seconds[id] = seconds_in(line).value_or(seconds[id]);
                       });
  peers.wait_for("measuring", [&](PeerId id) { return seconds[id] > 0; });
  std::vector<PeerSpeed> speeds;
  for (PeerId i = 0; i < seconds.size(); ++i)
    speeds.push_back({.peer = i,
                      .device = fleet.peers[i].device,
                      .batch = fleet.peers[i].batch,
                      .samples_per_second = fleet.peers[i].batch / seconds[i]});
  return speeds;
}

struct SpeedsArguments {
  FleetOptions file;
  double seconds = 2;
};

/// Returns the slowest peer, whose speed is 1, the unit of `speed` in a fleet file.
const PeerSpeed& slowest(const std::vector<PeerSpeed>& speeds) {
  return *std::ranges::min_element(speeds, {}, &PeerSpeed::samples_per_second);
}

double speed_of(const PeerSpeed& row, const std::vector<PeerSpeed>& speeds) {
  return row.samples_per_second / slowest(speeds).samples_per_second;
}

/// Returns whether the file can group two peers: on one host, with the same kind of device.
bool alike(const PeerSpec& a, const PeerSpec& b) {
  return a.host == b.host && a.device == b.device && a.threads == b.threads &&
         a.precision == b.precision;
}

/// Returns the `peers:` of the file with measured speeds: the mean of each group.
std::string advice(const Fleet& fleet, const std::vector<PeerSpeed>& speeds) {
  constexpr std::size_t indent = 8;  // within the braces of a group
  std::string text = "for the fleet file:\n  peers:\n";
  for (std::size_t begin = 0; begin < speeds.size();) {
    PeerSpec group = fleet.peers[begin];
    std::size_t end = begin;
    double sum = 0;
    for (; end < speeds.size() && alike(fleet.peers[begin], fleet.peers[end]); ++end)
      sum += speed_of(speeds[end], speeds);
    const auto count = static_cast<PeerId>(end - begin);
    constexpr double digits = 100;
    group.speed = std::round(sum / count * digits) / digits;
    text += wrapped("    - " + peer_group_text(group, count, false), indent) + "\n";
    begin = end;
  }
  text += "  train: { batch: auto }             # in proportion to them";
  if (fleet.program) return text;
  return text +
         fmt::format("\n  simulate: {{ flops: {:.3g} GFLOP/s }}   # of speed 1: {:.0f} samples/s",
                     1e-9 * slowest(speeds).flops, slowest(speeds).samples_per_second);
}

void print_table(const Fleet& fleet, const std::vector<PeerSpeed>& speeds) {
  fmt::print("{:>4} {:<16} {:<8} {:>7} {:>6} {:>12} {:>10} {:>8}\n", "peer", "host", "device",
             "threads", "batch", "samples/s", "GFLOP/s", "speed");
  for (const PeerSpeed& row : speeds) {
    const PeerSpec& spec = fleet.peers[row.peer];
    fmt::print("{:>4} {:<16} {:<8} {:>7} {:>6} {:>12.0f} {:>10} {:>8.3g}\n", row.peer,
               cut_to_columns(printable(spec.host, 60), 16), row.device, spec.threads, row.batch,
               row.samples_per_second,
               fleet.program ? "-" : fmt::format("{:.3g}", 1e-9 * row.flops),
               speed_of(row, speeds));
  }
  fmt::print("{}\n", advice(fleet, speeds));
}

Json json_of(const Fleet& fleet, const std::vector<PeerSpeed>& speeds) {
  Json rows = Json::array();
  for (const PeerSpeed& row : speeds) {
    const PeerSpec& spec = fleet.peers[row.peer];
    rows.push_back(Json{{"peer", row.peer},
                        {"host", spec.host},
                        {"device", row.device},
                        {"threads", spec.threads},
                        {"batch", row.batch},
                        {"samples_per_second", row.samples_per_second},
                        {"gflops", fleet.program ? Json() : Json(1e-9 * row.flops)},
                        {"speed", speed_of(row, speeds)}});
  }
  return Json{{"schema", "grapevine.bench-speeds/1"},
              {"rows", rows},
              {"gflops_of_speed_1", fleet.program ? Json() : Json(1e-9 * slowest(speeds).flops)}};
}

int measure_speeds(const SpeedsArguments& arguments) {
  std::unique_ptr<Scout> scout;
  const Assembly fleet = assemble_to_run(arguments.file, peer_program(), scout);
  if (!scout && !fleet.data.train)
    throw std::invalid_argument(fmt::format("bench speeds: {} has no samples to be counted",
                                            fleet.fleet.agent ? "an agent" : "a quadratic"));
  ProgressLine progress;
  const PeerSpeedOptions options{
      .seconds = arguments.seconds,
      .on_progress = [&](const std::string& text) { progress.update(text); },
      .say =
          [&](const std::string& line) {
            progress.clear();
            fmt::print(stderr, "{}\n", line);
          }};
  std::unique_ptr<Places> places;
  if (is_lan(fleet.fleet)) {
    LanOptions lan{peer_program(), fleet.fleet.path, arguments.file.sets, options.say};
    if (scout) lan.introduction = scout->introduction();
    places = std::make_unique<Lan>(fleet, std::move(lan));
  } else {
    places =
        std::make_unique<ThisMachine>(peer_program(), fleet.fleet.path, ".", arguments.file.sets);
  }
  const std::vector<PeerSpeed> speeds = scout ? measure_programs(fleet.fleet, *places, options)
                                              : measure_speeds(fleet, *places, options);
  progress.clear();
  if (arguments.file.json)
    console::print(json_of(fleet.fleet, speeds));
  else
    print_table(fleet.fleet, speeds);
  return exit_code::done;
}

void speeds_options(Options& options, SpeedsArguments& arguments) {
  add_fleet_options(options, arguments.file).required();
  options.value("--seconds", arguments.seconds, "Seconds that each peer measures")
      .range(0.05, 600.0)
      .show_default();
}

}  // namespace

Command bench_speeds_command() {
  return command("speeds",
                 "Measure training samples per second of every peer of a fleet, on its own machine "
                 "and device, all at once, and print the `speed` of each",
                 "  grapevine bench speeds lan.yaml\n"
                 "  grapevine bench speeds configs/fashion-ring8.yaml --seconds 5 --json",
                 speeds_options, measure_speeds);
}

}  // namespace gv::cli
