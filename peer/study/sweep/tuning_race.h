#pragma once

#include <cstddef>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "peer/study/sweep/trial_plan.h"
#include "peer/study/sweep/tuning.h"

namespace gv {

/// The race between the points of a bracket: which place of which rung may run, and what came of
/// it. It follows from the scores alone, so that all who see them agree; with `asha` from the
/// claims too, since whoever has begun a trial finishes it.
class TuningRace {
 public:
  /// `seeds`: scores that a place needs. The bracket must outlive it.
  TuningRace(const TuningBracket& bracket, std::size_t seeds);

  /// Places by rung.
  using Places = std::set<std::pair<std::size_t, std::size_t>>;

  /// Sets what somebody is at; replaces what was said before.
  void set_claimed(Places claimed) { claimed_ = std::move(claimed); }
  /// The score of one seed.
  void take(std::size_t rung, std::size_t place, const TrialScore& score);

  /// Returns which point has the place; nothing while that is not known.
  std::optional<std::size_t> point_at(std::size_t rung, std::size_t place) const;
  /// The other way round: where the point is, or was, in that rung; nothing where it is not there,
  /// or that is not known yet.
  std::optional<std::size_t> place_of(std::size_t rung, std::size_t point) const;
  /// Returns whether what a place has done may still be gone on from, in the next rung.
  bool may_be_promoted(std::size_t rung, std::size_t place) const;
  /// Returns whether the trials of a place are to run, or have run.
  bool is_open(std::size_t rung, std::size_t place) const;
  /// Returns whether nothing is left to run.
  bool done() const;

  struct Scored {
    std::size_t point = 0;
    TrialScore score;  ///< the median over the seeds
  };
  /// Returns those of a rung of which every seed is known.
  std::vector<Scored> scored_in(std::size_t rung) const;
  std::vector<Scored> finalists() const { return scored_in(bracket_.rungs.size() - 1); }

 private:
  bool complete(std::size_t rung, std::size_t place) const {
    return scores_[rung][place].size() == seeds_;
  }
  std::vector<std::size_t> best_of(const std::vector<Scored>& scored, std::size_t count) const;
  bool rung_is_whole(std::size_t rung) const;
  void begin_next_rung();

  const TuningBracket& bracket_;
  std::size_t seeds_;
  std::vector<std::vector<std::vector<TrialScore>>> scores_;  ///< by rung and place
  std::vector<std::vector<std::size_t>> points_;  ///< by rung and place, as far as known
  std::vector<std::set<std::size_t>> promoted_;   ///< asha: points by rung
  Places claimed_;
};

}  // namespace gv
