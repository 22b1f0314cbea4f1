#include "peer/sweep/sweep_state.h"

#include <algorithm>
#include <numeric>

#include "peer/sweep/replay.h"

namespace gv {
namespace {

using Stage = TrialSlot::Stage;

std::string name_of(Stage stage) {
  return stage == Stage::tune ? "tune" : "measure";
}

bool asks_for(const CellPattern& only, const SweepPlan& plan, const TrialSlot& slot) {
  auto labels = plan.cells[slot.cell].labels;
  labels["seed"] = std::to_string(slot.seed);
  labels["stage"] = name_of(slot.stage);
  return matches(only, labels);
}

}  // namespace

SweepState::SweepState(const SweepPlan& plan, const SweepFolder& folder, CellPattern only)
    : plan_(plan),
      folder_(folder),
      wanted_(plan.slots.size(), false),
      resolved_(plan.slots.size()),
      ends_(plan.slots.size()),
      rungs_(plan.families.size()),
      tuned_(plan.families.size()) {
  std::set<std::size_t> families;
  const auto stage = only.find("stage");
  const bool tuning_alone =
      stage != only.end() && stage->second == std::vector<std::string>{"tune"};
  if (stage != only.end()) only.erase(stage);
  for (std::size_t s = 0; s < plan.slots.size(); ++s) {
    const TrialSlot& slot = plan.slots[s];
    if (slot.stage != Stage::measure || !asks_for(only, plan, slot)) continue;
    wanted_[s] = !tuning_alone;
    families.insert(slot.family);
  }
  for (std::size_t s = 0; s < plan.slots.size(); ++s)
    if (plan.slots[s].stage == Stage::tune) wanted_[s] = families.contains(plan.slots[s].family);
  for (std::size_t f = 0; f < plan.families.size(); ++f) {
    if (plan.families[f].points.empty()) continue;
    std::vector<std::size_t> all(plan.rungs[0].points);
    std::iota(all.begin(), all.end(), std::size_t{0});
    rungs_[f].push_back(std::move(all));
  }
}

std::optional<std::size_t> SweepState::point_of(const TrialSlot& slot) const {
  const SweepFamily& family = plan_.families[slot.family];
  if (slot.stage == Stage::tune) {
    if (slot.rung >= rungs_[slot.family].size()) return std::nullopt;
    return rungs_[slot.family][slot.rung][slot.place];
  }
  if (family.points.empty()) return 0;
  if (!tuned_[slot.family]) return std::nullopt;
  return tuned_[slot.family]->point;
}

bool SweepState::resolve(std::size_t s) {
  if (resolved_[s]) return true;
  const TrialSlot& slot = plan_.slots[s];
  const std::optional<std::size_t> point = point_of(slot);
  if (!point) return false;
  const SweepFamily& family = plan_.families[slot.family];
  Resolved resolved;
  resolved.point = *point;
  resolved.sets = plan_.sets_of(
      slot.cell, family.points.empty() ? TuningPoint{} : family.points[*point], slot.seed);
  const Fleet fleet = read_fleet(plan_.file.base, resolved.sets, nullptr);
  resolved.identity = identity_of(fleet);
  resolved.replayable = plan_.file.simulated && clock_stands_alone(fleet);
  alike_[resolved.identity.bits].insert(s);
  resolved_[s] = std::move(resolved);
  return true;
}

void SweepState::refresh() {
  for (std::size_t s = 0; s < plan_.slots.size(); ++s) {
    const TrialSlot& slot = plan_.slots[s];
    if (!wanted_[s] || ends_[s] || !resolve(s)) continue;
    const std::optional<TrialEnd> end = folder_.end_of(slot);
    const double fraction = slot.stage == Stage::tune ? plan_.rungs[slot.rung].fraction : 1;
    const bool fits = end && end->identity == resolved_[s]->identity && end->fraction == fraction;
    if (fits) ends_[s] = end;
    // Slots of later rungs and of measurements stand behind those that decide them.
    if (fits && slot.stage == Stage::tune) rank(slot.family);
  }
}

bool SweepState::rung_is_done(std::size_t family, std::size_t rung) const {
  for (std::size_t s = 0; s < plan_.slots.size(); ++s) {
    const TrialSlot& slot = plan_.slots[s];
    const bool member = slot.stage == Stage::tune && slot.family == family && slot.rung == rung;
    if (member && !ends_[s]) return false;
  }
  return true;
}

/// Of the places of a rung: the median over the seeds.
std::vector<TrialScore> SweepState::scores(std::size_t family, std::size_t rung) const {
  std::vector<std::vector<TrialScore>> by_place(plan_.rungs[rung].points);
  for (const TrialSlot& slot : plan_.slots)
    if (slot.stage == Stage::tune && slot.family == family && slot.rung == rung)
      by_place[slot.place].push_back(score_of(
          folder_.trial(slot), plan_.file.target.value(), plan_.families[family].synchronous));
  std::vector<TrialScore> all;
  for (std::vector<TrialScore>& place : by_place) all.push_back(median_score(std::move(place)));
  return all;
}

/// When a rung is whole, its best points go on to the next, or the best of all is known.
void SweepState::rank(std::size_t family) {
  const std::size_t rung = rungs_[family].size() - 1;
  if (tuned_[family] || !rung_is_done(family, rung)) return;
  if (rung + 1 == plan_.rungs.size()) return conclude(family);
  const std::vector<std::size_t> order = ranking(scores(family, rung));
  std::vector<std::size_t> next;
  for (std::size_t k = 0; k < plan_.rungs[rung + 1].points; ++k)
    next.push_back(rungs_[family][rung][order[k]]);
  rungs_[family].push_back(std::move(next));
}

void SweepState::conclude(std::size_t f) {
  const SweepFamily& family = plan_.families[f];
  const std::vector<std::size_t>& places = rungs_[f].back();
  const std::vector<TrialScore> last = scores(f, plan_.rungs.size() - 1);
  const std::size_t best = ranking(last).front();
  TunedFamily tuned{.point = places[best],
                    .values = family.points[places[best]],
                    .score = last[best],
                    .base = {},
                    .edges = {}};
  for (std::size_t k = 0; k < places.size(); ++k)
    if (places[k] == 0) tuned.base = last[k];
  std::vector<std::vector<std::string>> tried;
  for (const TuningPoint& point : family.points) {
    tried.emplace_back();
    for (const SweepSet& set : point)
      tried.back().push_back(set.argument.substr(set.key.size() + 1));
  }
  tuned.edges = edges_of(family.knobs, tried, tuned.point);
  tuned_[f] = std::move(tuned);
}

/// The trial whose rounds this one may take: one that was trained and ended well. Empty text: it is
/// trained itself. Nothing: that is not known yet.
std::optional<std::string> SweepState::source_of(std::size_t s) const {
  if (!resolved_[s]->replayable || plan_.slots[s].stage == Stage::tune) return "";
  for (const std::size_t other : alike_.at(resolved_[s]->identity.bits)) {
    if (other == s || plan_.slots[other].stage == Stage::tune) continue;
    if (ends_[other]) {
      if (ends_[other]->replayed) continue;
      const bool fine = !ends_[other]->diverged && !ends_[other]->deadline_passed;
      return fine ? folder_.trial(plan_.slots[other]) : "";
    }
    if (wanted_[other] && other < s) return std::nullopt;
  }
  return "";
}

std::vector<ReadyTrial> SweepState::ready() {
  std::vector<ReadyTrial> all;
  for (std::size_t s = 0; s < plan_.slots.size(); ++s) {
    if (!wanted_[s] || ends_[s] || !resolve(s)) continue;
    const std::optional<std::string> source = source_of(s);
    if (!source) continue;
    const TrialSlot& slot = plan_.slots[s];
    all.push_back({.slot = s,
                   .sets = resolved_[s]->sets,
                   .identity = resolved_[s]->identity,
                   .fraction = slot.stage == Stage::tune ? plan_.rungs[slot.rung].fraction : 1,
                   .replay_of = *source});
  }
  return all;
}

std::size_t SweepState::count(Stage stage) const {
  std::size_t all = 0;
  for (std::size_t s = 0; s < plan_.slots.size(); ++s)
    all += wanted_[s] && plan_.slots[s].stage == stage ? 1 : 0;
  return all;
}

std::size_t SweepState::count_done(Stage stage) const {
  std::size_t done = 0;
  for (std::size_t s = 0; s < plan_.slots.size(); ++s)
    done += wanted_[s] && ends_[s] && plan_.slots[s].stage == stage ? 1 : 0;
  return done;
}

}  // namespace gv
