#include "peer/cli/asked_fleet.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <utility>

#include <fmt/format.h>

#include "peer/cli/this_program.h"
#include "peer/launch/agent/lan.h"
#include "peer/launch/program/start_file.h"
#include "peer/launch/run_record.h"

namespace gv::cli {
namespace {

void say(const std::string& line) {
  fmt::print(stderr, "{}\n", line);
}

/// Says how to start it, as a launcher does peer 0, for another task. It needs no run's folder.
std::vector<std::string> scout_words(const FleetOptions& options,
                                     const std::string& binary,
                                     const std::string& task) {
  std::vector<std::string> words{binary,
                                 "peer",
                                 options.file,
                                 "--id",
                                 "0",
                                 "--launched",
                                 ".",
                                 "--where",
                                 "here",
                                 "--task",
                                 task};
  for (const std::string& set : options.sets) words.insert(words.end(), {"--set", set});
  return words;
}

}  // namespace

Assembly assemble_to_run(const FleetOptions& given,
                         const std::string& binary,
                         std::unique_ptr<Scout>& scout) {
  FleetOptions options = given;
  Fleet fleet = read_file(options);
  return assemble_to_run(std::move(fleet), options, binary, scout);
}

Assembly assemble_to_run(Fleet fleet,
                         const FleetOptions& options,
                         const std::string& binary,
                         std::unique_ptr<Scout>& scout) {
  if (!fleet.program) return Assembly(std::move(fleet));
  scout = std::make_unique<Scout>(
      fleet, ScoutOptions{.argv = scout_words(options, binary, "ask"), .say = say});
  ProgramModel model = model_of(scout->introduction(), scout->start());
  return Assembly(std::move(fleet), std::nullopt, std::move(model));
}

Assembly assemble_to_plan(const FleetOptions& given) {
  FleetOptions options = given;
  Fleet fleet = read_file(options);
  if (!fleet.program) return Assembly(std::move(fleet));
  const Scout measured(fleet,
                       ScoutOptions{.argv = scout_words(options, peer_program(), "measure"),
                                    .say = say,
                                    .awaited = "taken the steps that it is timed by"});
  ProgramModel model = model_of(measured.introduction(), measured.start());
  const double seconds = measured.introduction().seconds_per_step.value_or(0);
  model.gradient_flops = seconds * crowding(fleet) * fleet.flops * fleet.peers.front().speed;
  return Assembly(std::move(fleet), std::nullopt, std::move(model));
}

double crowding(const Fleet& fleet) {
  if (is_lan(fleet)) return 1;
  double threads = 0;
  for (PeerId i = 0; i < fleet.trainers(); ++i) threads += fleet.peers[i].threads;
  return std::max(1.0, threads / machine_facts().cores);
}

std::vector<std::string> hand_over(const Scout* scout, const RunFolder& folder) {
  if (scout == nullptr) return {};
  const std::string path = folder.file(start_name);
  write_start(path, scout->introduction(), scout->start());
  return {"--start", std::filesystem::absolute(path).string()};
}

}  // namespace gv::cli
