#include <algorithm>
#include <numeric>

#include "optim/mapped.h"
#include "peer/fleet/file/source.h"
#include "peer/study/sweep/sweep.h"
#include "peer/study/sweep/trial_job.h"

namespace gv {
namespace {

/// Returns 0, 1, .. count - 1.
std::vector<std::size_t> numbers(std::size_t count) {
  std::vector<std::size_t> all(count);
  std::iota(all.begin(), all.end(), std::size_t{0});
  return all;
}

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

std::vector<std::string> values_in(const TuningPoint& point) {
  return mapped(point, &SweepSet::value);
}

/// Returns the knobs' values in the fleet file of a family; none if one is missing.
std::vector<std::string> own_values(const SweepPlan& plan, const SweepFamily& family) {
  const FlatKeys keys =
      fleet_keys(plan.file.base, plan.sets_of(family.cells[0], {}, plan.seeds[0]));
  std::vector<std::string> values;
  for (const TuningKnob& knob : family.knobs) {
    const auto at = std::ranges::find(keys, knob.key, &FlatKeys::value_type::first);
    if (at == keys.end()) return {};
    values.push_back(at->second);
  }
  return values;
}

}  // namespace

TuningRace::TuningRace(const TuningBracket& bracket, std::size_t seeds)
    : bracket_(bracket), seeds_(seeds), promoted_(bracket.rungs.size()) {
  for (std::size_t rung = 0; rung < bracket.rungs.size(); ++rung) {
    scores_.emplace_back(bracket.places(rung));
    if (rung == 0 || bracket.asynchronous) points_.push_back(numbers(bracket.points.size()));
  }
}

void TuningRace::take(std::size_t rung, std::size_t place, const TrialScore& score) {
  scores_[rung][place].push_back(score);
  if (!complete(rung, place)) return;
  if (!bracket_.asynchronous) return begin_next_rung();
  if (rung + 1 == bracket_.rungs.size()) return;
  const std::vector<Scored> done = scored_in(rung);
  const std::vector<std::size_t> best = best_of(done, done.size() / promoted_of);
  promoted_[rung + 1] = {best.begin(), best.end()};
}

std::optional<std::size_t> TuningRace::point_at(std::size_t rung, std::size_t place) const {
  if (rung >= points_.size()) return std::nullopt;
  return points_[rung][place];
}

std::optional<std::size_t> TuningRace::place_of(std::size_t rung, std::size_t point) const {
  if (rung >= points_.size()) return std::nullopt;
  const auto at = std::ranges::find(points_[rung], point);
  if (at == points_[rung].end()) return std::nullopt;
  return static_cast<std::size_t>(at - points_[rung].begin());
}

bool TuningRace::may_be_promoted(std::size_t rung, std::size_t place) const {
  if (rung + 1 >= bracket_.rungs.size() || done()) return false;
  if (bracket_.asynchronous || points_.size() == rung + 1) return true;
  const std::optional<std::size_t> point = point_at(rung, place);
  return point && place_of(rung + 1, *point);
}

std::vector<TuningRace::Scored> TuningRace::scored_in(std::size_t rung) const {
  std::vector<Scored> all;
  for (std::size_t place = 0; place < scores_[rung].size(); ++place)
    if (complete(rung, place))
      all.push_back({points_[rung][place], median_score(scores_[rung][place])});
  return all;
}

std::vector<std::size_t> TuningRace::best_of(const std::vector<Scored>& scored,
                                             std::size_t count) const {
  const std::vector<std::size_t> order = ranking(mapped(scored, &Scored::score));
  std::vector<std::size_t> best;
  for (std::size_t k = 0; k < count; ++k) best.push_back(scored[order[k]].point);
  return best;
}

bool TuningRace::is_open(std::size_t rung, std::size_t place) const {
  if (!bracket_.asynchronous || rung == 0) return true;
  return !scores_[rung][place].empty() || claimed_.contains({rung, place}) ||
         promoted_[rung].contains(place);
}

bool TuningRace::rung_is_whole(std::size_t rung) const {
  for (std::size_t place = 0; place < scores_[rung].size(); ++place)
    if (is_open(rung, place) && !complete(rung, place)) return false;
  return true;
}

bool TuningRace::done() const {
  if (points_.size() < bracket_.rungs.size()) return false;
  for (std::size_t rung = 0; rung < bracket_.rungs.size(); ++rung)
    if (!rung_is_whole(rung)) return false;
  return true;
}

void TuningRace::begin_next_rung() {
  const std::size_t rung = points_.size() - 1;
  if (rung + 1 == bracket_.rungs.size() || !rung_is_whole(rung)) return;
  points_.push_back(best_of(scored_in(rung), bracket_.rungs[rung + 1].points));
}

SweepState::SweepState(const SweepPlan& plan,
                       const SweepFolder& folder,
                       CellPattern only,
                       std::string build)
    : plan_(plan),
      folder_(folder),
      build_(std::move(build)),
      wanted_(plan.slots.size(), false),
      resolved_(plan.slots.size()),
      ends_(plan.slots.size()),
      races_(plan.families.size()),
      order_(numbers(plan.slots.size())),
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
  for (std::size_t s = 0; s < plan.slots.size(); ++s)
    if (const TrialSlot& slot = plan.slots[s]; slot.stage == Stage::tune)
      places_[{slot.family, slot.bracket, slot.rung, slot.place, slot.seed}] = s;
  for (std::size_t f = 0; f < plan.families.size(); ++f)
    for (const TuningBracket& bracket : plan.families[f].brackets)
      races_[f].emplace_back(bracket, plan.tuning_seeds.size());
  // With asha, promoted trials begin before new ones, highest rung first.
  std::ranges::stable_sort(order_, std::ranges::greater{}, [&](std::size_t s) {
    return is_asynchronous(plan.slots[s]) ? plan.slots[s].rung : 0;
  });
}

bool SweepState::is_asynchronous(const TrialSlot& slot) const {
  return slot.stage == Stage::tune &&
         plan_.families[slot.family].brackets[slot.bracket].asynchronous;
}

bool SweepState::wanted(std::size_t s) const {
  const TrialSlot& slot = plan_.slots[s];
  return wanted_[s] && (slot.stage == Stage::measure ||
                        races_[slot.family][slot.bracket].is_open(slot.rung, slot.place));
}

std::optional<TuningPoint> SweepState::values_of(const TrialSlot& slot) const {
  const SweepFamily& family = plan_.families[slot.family];
  if (slot.stage == Stage::tune) {
    const auto point = races_[slot.family][slot.bracket].point_at(slot.rung, slot.place);
    if (!point) return std::nullopt;
    return family.brackets[slot.bracket].points[*point];
  }
  if (family.brackets.empty()) return TuningPoint{};
  if (!tuned_[slot.family]) return std::nullopt;
  return tuned_[slot.family]->values;
}

bool SweepState::has_next_rung(const TrialSlot& slot) const {
  if (slot.stage == Stage::measure) return false;
  return slot.rung + 1 < plan_.families[slot.family].brackets[slot.bracket].rungs.size();
}

double SweepState::fraction_of(const TrialSlot& slot) const {
  if (slot.stage == Stage::measure) return 1;
  return plan_.families[slot.family].brackets[slot.bracket].rungs[slot.rung].fraction;
}

bool SweepState::resolve(std::size_t s) {
  if (resolved_[s]) return true;
  const TrialSlot& slot = plan_.slots[s];
  const std::optional<TuningPoint> values = values_of(slot);
  if (!values) return false;
  Resolved resolved;
  resolved.sets = plan_.sets_of(slot.cell, *values, slot.seed);
  const Fleet fleet = read_fleet(plan_.file.base, resolved.sets, nullptr);
  resolved.identity = identity_of(fleet);
  resolved.replayable = plan_.file.simulated && clock_stands_alone(fleet);
  alike_[resolved.identity.bits].insert(s);
  resolved_[s] = std::move(resolved);
  return true;
}

void SweepState::refresh() {
  const std::set<std::string> there = folder_.trials();
  // Tuning in the order of rungs, then measurements that depend on it.
  for (const Stage stage : {Stage::tune, Stage::measure})
    for (std::size_t s = 0; s < plan_.slots.size(); ++s)
      if (plan_.slots[s].stage == stage && there.contains(plan_.slots[s].folder)) look_at(s);
  look_at_claims();
}

/// Reads claims after results. If a process claims a trial and then sees in the results that it is
/// still promoted, every process that concluded without this trial has seen the claim.
void SweepState::look_at_claims() {
  std::map<std::pair<std::size_t, std::size_t>, TuningRace::Places> claimed;
  const std::set<std::size_t> numbers = folder_.claimed();
  for (const TrialSlot& slot : plan_.slots)
    if (is_asynchronous(slot) && numbers.contains(slot.number))
      claimed[{slot.family, slot.bracket}].emplace(slot.rung, slot.place);
  for (std::size_t f = 0; f < races_.size(); ++f) {
    bool all_done = !races_[f].empty();
    for (std::size_t b = 0; b < races_[f].size(); ++b) {
      races_[f][b].set_claimed(claimed[{f, b}]);
      all_done = all_done && races_[f][b].done();
    }
    if (all_done && !tuned_[f]) conclude(f);
  }
}

bool SweepState::look_at(std::size_t s) {
  if (ends_[s]) return true;
  const TrialSlot& slot = plan_.slots[s];
  if (!wanted_[s] || !resolve(s)) return false;
  const std::optional<TrialEnd> end = folder_.end_of(slot);
  const bool fits =
      end && end->identity == resolved_[s]->identity && end->fraction == fraction_of(slot);
  if (!fits) return false;
  if (!build_.empty() && end->build != build_) {
    other_builds_[end->build].insert(s);
    return false;
  }
  ends_[s] = end;
  if (slot.stage == Stage::tune) take_score(slot);
  return true;
}

void SweepState::take_score(const TrialSlot& slot) {
  std::vector<TuningRace>& races = races_[slot.family];
  const bool by_rounds = plan_.families[slot.family].synchronous;
  races[slot.bracket].take(slot.rung, slot.place,
                           score_of(folder_.trial(slot), plan_.file.target, by_rounds));
  // With asha the claims must be known before a conclusion: see look_at_claims.
  if (!is_asynchronous(slot) && std::ranges::all_of(races, &TuningRace::done))
    conclude(slot.family);
}

void SweepState::conclude(std::size_t f) {
  const SweepFamily& family = plan_.families[f];
  TunedFamily tuned{};
  std::size_t best = 0;  // index among all points of all brackets
  std::vector<std::vector<std::string>> tried;
  bool first = true;
  for (std::size_t b = 0; b < family.brackets.size(); ++b) {
    for (const TuningRace::Scored& last : races_[f][b].finalists()) {
      if (family.brackets[b].points[last.point].empty()) tuned.base = last.score;
      if (!first && !last.score.before(tuned.score)) continue;
      first = false;
      tuned.score = last.score;
      tuned.values = family.brackets[b].points[last.point];
      best = tried.size() + last.point;
    }
    for (const TuningPoint& point : family.brackets[b].points)
      tried.push_back(point.empty() ? own_values(plan_, family) : values_in(point));
  }
  tuned.edges = edges_of(family.knobs, tried, best);
  tuned_[f] = std::move(tuned);
}

/// Returns the trial whose rounds this one can reuse: one that was trained and ended well. Returns
/// an empty text if this trial must be trained itself, and nothing if that is not known yet.
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

/// Returns the trial of the same point and seed in another rung; nothing if there is none, or if
/// that is not known yet.
std::optional<std::size_t> SweepState::same_in_rung(std::size_t s, std::size_t rung) const {
  const TrialSlot& slot = plan_.slots[s];
  const TuningRace& race = races_[slot.family][slot.bracket];
  const std::optional<std::size_t> point = race.point_at(slot.rung, slot.place);
  if (!point) return std::nullopt;
  const std::optional<std::size_t> place = race.place_of(rung, *point);
  if (!place) return std::nullopt;
  const auto at = places_.find({slot.family, slot.bracket, rung, *place, slot.seed});
  return at == places_.end() ? std::nullopt : std::optional(at->second);
}

/// Returns the trial from which a promoted one resumes, if only the rounds determine what is
/// computed: messages in flight of an asynchronous method are in no checkpoint.
std::string SweepState::earlier_rung_of(std::size_t s) const {
  const TrialSlot& slot = plan_.slots[s];
  if (!resolved_[s]->replayable || slot.stage == Stage::measure || slot.rung == 0) return "";
  const std::optional<std::size_t> earlier = same_in_rung(s, slot.rung - 1);
  if (!earlier || !ends_[*earlier]) return "";
  const TrialEnd& end = *ends_[*earlier];
  return end.diverged || end.deadline_passed ? "" : folder_.trial(plan_.slots[*earlier]);
}

bool SweepState::is_spent(std::size_t s) const {
  const TrialSlot& slot = plan_.slots[s];
  if (slot.stage == Stage::measure || !ends_[s]) return false;
  if (!races_[slot.family][slot.bracket].may_be_promoted(slot.rung, slot.place)) return true;
  const std::optional<std::size_t> later = same_in_rung(s, slot.rung + 1);
  return later && ends_[*later];
}

std::vector<ReadyTrial> SweepState::ready(const std::set<std::size_t>& except, std::size_t most) {
  std::vector<ReadyTrial> all;
  for (const std::size_t s : order_) {
    if (all.size() == most) break;
    if (ends_[s] || except.contains(s) || !wanted(s) || !resolve(s)) continue;
    const std::optional<std::string> source = source_of(s);
    if (!source) continue;
    all.push_back({.slot = s,
                   .sets = resolved_[s]->sets,
                   .identity = resolved_[s]->identity,
                   .fraction = fraction_of(plan_.slots[s]),
                   .replay_of = *source,
                   .goes_on_from = earlier_rung_of(s),
                   .keeps_state = resolved_[s]->replayable && has_next_rung(plan_.slots[s])});
  }
  return all;
}

std::size_t SweepState::count(Stage stage) const {
  std::size_t all = 0;
  for (std::size_t s = 0; s < plan_.slots.size(); ++s)
    all += plan_.slots[s].stage == stage && wanted(s) ? 1 : 0;
  return all;
}

std::size_t SweepState::count_done(Stage stage) const {
  std::size_t done = 0;
  for (std::size_t s = 0; s < plan_.slots.size(); ++s)
    done += wanted_[s] && ends_[s] && plan_.slots[s].stage == stage ? 1 : 0;
  return done;
}

}  // namespace gv
