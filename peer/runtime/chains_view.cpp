#include "peer/runtime/chains_view.h"

#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace gv {
namespace {

std::vector<PeerId> copies_of(const ParallelSpec& spec) {
  return spec.copies.empty() ? std::vector<PeerId>(spec.stages, 1) : spec.copies;
}

std::string schedule_text(const ParallelSpec& spec) {
  if (spec.schedule == ParallelSpec::Schedule::pipedream)
    return fmt::format("{}{} {} step{} old",
                       name_of(spec.schedule),
                       spec.vertical_sync ? " with vertical sync, weights" : ", weights up to",
                       spec.stages - 1,
                       spec.stages == 2 ? "" : "s");
  return fmt::format("{} microbatch{}, ahead {}",
                     spec.microbatches,
                     spec.microbatches == 1 ? "" : "es",
                     ahead_text(spec.ahead));
}

}  // namespace

std::string ahead_text(std::uint32_t ahead) {
  return ahead == ParallelSpec::all ? "all" : fmt::format("{}", ahead);
}

std::string chain_ended_text(PeerId stage) {
  return fmt::format(
      "without peer {} its chain cannot complete a round and has ended; the others go on", stage);
}

std::string chains_text(const Assembly& fleet) {
  if (!fleet.division) return "";
  const ParallelSpec& spec = *fleet.fleet.parallel;
  const std::vector<std::string> names = fleet.division->names();
  const std::vector<PeerId> copies = copies_of(spec);
  std::vector<std::string> stages;
  for (PeerId s = 0; s < spec.stages; ++s) {
    stages.push_back(fmt::format("{} ({}){}",
                                 names[s],
                                 fleet.division->range(s).count,
                                 copies[s] > 1 ? fmt::format(" x {}", copies[s]) : ""));
  }
  return fmt::format(
      "chains {} of {} stage{}, {}{}\n       stages begin with (and have parameters): {}\n",
      fleet.fleet.models(),
      spec.stages,
      spec.stages == 1 ? "" : "s",
      schedule_text(spec),
      spec.recompute ? ", computed once more on the way back" : "",
      fmt::join(stages, " | "));
}

void add_chains(Json& json, const Assembly& fleet) {
  if (!fleet.division) return;
  const ParallelSpec& spec = *fleet.fleet.parallel;
  json["stages"] = fleet.division->names();
  json["chains"] = fleet.fleet.models();
  json["copies"] = copies_of(spec);
  json["microbatches"] = spec.microbatches;
  json["ahead"] = spec.ahead == ParallelSpec::all ? Json("all") : Json(spec.ahead);
  json["schedule"] = name_of(spec.schedule);
  json["vertical_sync"] = spec.vertical_sync;
}

}  // namespace gv
