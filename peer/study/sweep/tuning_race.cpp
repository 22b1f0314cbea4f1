#include "peer/study/sweep/tuning_race.h"

#include <algorithm>
#include <numeric>

namespace gv {
namespace {

std::vector<std::size_t> all_of(const std::vector<TuningPoint>& points) {
  std::vector<std::size_t> all(points.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  return all;
}

}  // namespace

TuningRace::TuningRace(const TuningBracket& bracket, std::size_t seeds)
    : bracket_(bracket), seeds_(seeds), promoted_(bracket.rungs.size()) {
  for (std::size_t rung = 0; rung < bracket.rungs.size(); ++rung) {
    scores_.emplace_back(bracket.places(rung));
    if (rung == 0 || bracket.asynchronous) points_.push_back(all_of(bracket.points));
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
  std::vector<TrialScore> scores;
  for (const Scored& each : scored) scores.push_back(each.score);
  const std::vector<std::size_t> order = ranking(scores);
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

}  // namespace gv
