#include "peer/cli/run/grown_run.h"

#include <algorithm>
#include <filesystem>
#include <limits>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "graph/spec/parameters.h"
#include "peer/cli/this_program.h"
#include "peer/fleet/file/value.h"
#include "peer/launch/run/resume.h"
#include "peer/launch/run/run_record.h"
#include "peer/record/disk/posix_disk.h"

namespace gv::cli {
namespace {

[[noreturn]] void refuse(const std::string& why) {
  throw std::invalid_argument("run: --resume with --set: " + why);
}

std::string earlier_lines(const Assembly& was,
                          const RunFolder& folder,
                          const std::vector<Checkpoint>& past) {
  std::vector<Costs> costs;
  for (const Checkpoint& each : past) costs.push_back(costs_at_end(each.state));
  constexpr Round goes_on = std::numeric_limits<Round>::max();
  return earlier_metrics(was, folder, past.front().round, goes_on, costs);
}

std::string value_of(const FlatKeys& keys, std::string_view key) {
  const auto at = std::ranges::find(keys, key, &FlatKeys::value_type::first);
  return at == keys.end() ? "" : at->second;
}

/// Returns groups for new peers, each on the host with the fewest: "{ host: ben, count: 1 }".
std::string new_groups(const Assembly& was, std::uint64_t count) {
  struct Place {
    std::string host;
    std::uint64_t has = 0, more = 0;
  };
  std::vector<Place> places;
  for (const HostSpec& host : was.fleet.hosts) {
    const auto has = std::ranges::count(was.fleet.peers, host.name, &PeerSpec::host);
    if (has > 0 || host.name != PeerSpec{}.host)
      places.push_back({host.name, static_cast<std::uint64_t>(has)});
  }
  if (places.empty()) return fmt::format("{{ count: {} }}", count);
  for (; count > 0; --count) {
    Place& least = *std::ranges::min_element(places, {}, &Place::has);
    ++least.has;
    ++least.more;
  }
  std::vector<std::string> groups;
  for (const Place& place : places)
    if (place.more > 0)
      groups.push_back(fmt::format("{{ host: {}, count: {} }}", place.host, place.more));
  return fmt::format("{}", fmt::join(groups, ", "));
}

/// Keeps the file's groups of peers if `--set peers` is only a number, and appends the new peers.
void keep_groups(const Assembly& was, const std::string& groups, std::vector<std::string>& sets) {
  constexpr std::string_view key = "peers=";
  if (!groups.ends_with("]")) return;
  for (std::string& set : sets) {
    if (!set.starts_with(key)) continue;
    const auto now = as_number<std::uint64_t>(std::string_view(set).substr(key.size()));
    const PeerId old = was.fleet.trainers();
    if (!now || *now <= old || *now > most_peers) continue;
    set = fmt::format("peers={}, {}]", groups.substr(0, groups.size() - 1),
                      new_groups(was, *now - old));
  }
}

}  // namespace

GrownRun grow(const std::string& run_folder, FleetOptions& options) {
  if (!options.file.empty())
    throw std::invalid_argument(
        "run: --resume takes the fleet file of the run\nhelp:  give changed values by --set, such "
        "as --set peers=5");
  FleetOptions before;
  const Assembly was = assemble_again(run_folder, before);
  options.file = before.file;
  keep_groups(was, value_of(fleet_keys(before.file, before.sets), "peers"), options.sets);
  options.sets.insert(options.sets.begin(), before.sets.begin(), before.sets.end());
  const Assembly is = assemble(options);
  const std::string why = growth_objection(was, fleet_keys(before.file, before.sets), is,
                                           fleet_keys(options.file, options.sets));
  if (!why.empty()) refuse(why);
  const RunFolder folder = RunFolder::open(run_folder);
  const Round round = newest_common_round(was, folder);
  if (round >= is.rounds)
    refuse(
        fmt::format("it resumes from round {}, and the fleet ends after round {}\nhelp:  --set "
                    "stop.rounds=N with a greater N",
                    round, is.rounds));
  const std::vector<Checkpoint> past = checkpoints_of(was, folder, round);
  return {.from = run_folder,
          .checkpoints = grown_checkpoints(was, is, past),
          .lines = earlier_lines(was, folder, past)};
}

RunFolder begin_grown(const Assembly& fleet, const FleetOptions& options, const GrownRun& grown) {
  RunFolder folder = begin_run(
      fleet, {.kind = "run",
              .file = options.file,
              .sets = options.sets,
              .version = version_text(),
              .resumed = ResumedRun{
                  .run = grown.from, .round = grown.checkpoints.front().round, .whole = true}});
  PosixDisk disk;
  keep_checkpoints(fleet, folder, disk, grown.checkpoints);
  folder.write("metrics.jsonl", grown.lines);
  std::error_code none;
  for (const char* best : {"best.json", "model.safetensors"})
    if (fleet.fleet.keep_best)
      std::filesystem::copy_file(fmt::format("{}/{}", grown.from, best), folder.file(best), none);
  return folder;
}

}  // namespace gv::cli
