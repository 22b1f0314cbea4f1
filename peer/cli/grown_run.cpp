#include "peer/cli/grown_run.h"

#include <filesystem>
#include <stdexcept>

#include <fmt/format.h>

#include "peer/checkpoint/posix_disk.h"
#include "peer/cli/version.h"
#include "peer/launch/grown_fleet.h"
#include "peer/launch/resume.h"
#include "peer/launch/run_record.h"

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
  return earlier_metrics(was.fleet, folder, past.front().round, costs);
}

}  // namespace

GrownRun grow(const std::string& run_folder, FleetOptions& options) {
  if (!options.file.empty())
    throw std::invalid_argument(
        "run: --resume takes the fleet file of the run\nhelp:  say what is "
        "another one now by --set, such as --set peers=5");
  FleetOptions before;
  const Assembly was = assemble_again(run_folder, before);
  options.file = before.file;
  options.sets.insert(options.sets.begin(), before.sets.begin(), before.sets.end());
  const Assembly is = assemble(options);
  const std::string why = growth_objection(
      was, fleet_keys(before.file, before.sets), is, fleet_keys(options.file, options.sets));
  if (!why.empty()) refuse(why);
  const RunFolder folder = RunFolder::open(run_folder);
  const Round round = newest_common_round(was, folder);
  if (round >= is.rounds)
    refuse(
        fmt::format("it goes on from round {}, and the fleet ends after round {}\nhelp:  --set "
                    "stop.rounds=N with a greater N",
                    round,
                    is.rounds));
  const std::vector<Checkpoint> past = checkpoints_of(was, folder, round);
  return {.from = run_folder,
          .checkpoints = grown_checkpoints(was, is, past),
          .lines = earlier_lines(was, folder, past)};
}

RunFolder begin_grown(const Assembly& fleet, const FleetOptions& options, const GrownRun& grown) {
  RunFolder folder =
      begin_run(fleet,
                {.kind = "run",
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
