#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "peer/study/sweep/sweep_folder.h"
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

/// A trial of which everything is known that it needs.
struct ReadyTrial {
  std::size_t slot = 0;  ///< in the plan
  std::vector<std::string> sets;
  TrialIdentity identity;
  double fraction = 1;
  std::string replay_of;     ///< folder; "": it is trained
  std::string goes_on_from;  ///< folder of its trial in the rung before; "": from the beginning
  bool keeps_state = false;  ///< its trial in the next rung may go on from it
};

/// The findings of a family's tuning.
struct TunedFamily {
  TuningPoint values;  ///< empty: the base file's own
  TrialScore score;
  std::optional<TrialScore> base;  ///< of the base file's own, where they were trained in full
  std::vector<TuningEdge> edges{};
};

/// The state of a sweep, as its folder tells: what is done, and what can be done next. It is the
/// same for everybody who looks, so that several invocations agree without a word between them.
class SweepState {
 public:
  /// `only`: what is asked for, with the axes `seed` and `stage` beside the plan's; of others, the
  /// tuning that they need.
  /// `build`: the trials of this build alone count as done; "": those of any.
  SweepState(const SweepPlan& plan, const SweepFolder& folder, CellPattern only, std::string build);

  /// Looks at what has come since.
  void refresh();
  /// Does the same for one slot, and returns whether it is done.
  bool look_at(std::size_t slot);
  /// The first so many in the order of their numbers, without some; but first what asha has
  /// promoted.
  std::vector<ReadyTrial> ready(const std::set<std::size_t>& except, std::size_t most);

  /// Returns whether checkpoints of this slot's trial, which is done, are of no use any more:
  /// nobody will go on from it, or somebody has.
  bool is_spent(std::size_t slot) const;
  /// Returns whether it is asked for; what asha has not promoted is not.
  bool wanted(std::size_t slot) const;
  const std::optional<TrialEnd>& end(std::size_t slot) const { return ends_[slot]; }
  std::size_t count(TrialSlot::Stage stage) const;       ///< wanted
  std::size_t count_done(TrialSlot::Stage stage) const;  ///< of those
  /// Returns the slots whose trial would be done, were it not of another build, by that build.
  const std::map<std::string, std::set<std::size_t>>& other_builds() const { return other_builds_; }
  /// Returns nothing while it is not known yet, or when there is nothing to tune.
  const std::optional<TunedFamily>& tuned(std::size_t family) const { return tuned_[family]; }
  /// The tuned values of a slot's trial; nothing while they are not known.
  std::optional<TuningPoint> values_of(const TrialSlot& slot) const;

 private:
  struct Resolved {
    std::vector<std::string> sets;
    TrialIdentity identity;
    bool replayable = false;
  };
  bool resolve(std::size_t slot);
  double fraction_of(const TrialSlot& slot) const;
  bool has_next_rung(const TrialSlot& slot) const;
  void take_score(const TrialSlot& slot);
  void look_at_claims();
  bool is_asynchronous(const TrialSlot& slot) const;
  void conclude(std::size_t family);
  std::optional<std::string> source_of(std::size_t slot) const;
  std::optional<std::size_t> same_in_rung(std::size_t slot, std::size_t rung) const;
  std::string earlier_rung_of(std::size_t slot) const;

  const SweepPlan& plan_;
  const SweepFolder& folder_;
  const std::string build_;
  /// Tuning slots by family, bracket, rung, place and seed.
  using Place = std::tuple<std::size_t, std::size_t, std::size_t, std::size_t, std::uint64_t>;
  std::map<Place, std::size_t> places_;
  std::vector<bool> wanted_;
  std::vector<std::optional<Resolved>> resolved_;       ///< by slot
  std::map<std::string, std::set<std::size_t>> alike_;  ///< slots by their bits
  std::vector<std::optional<TrialEnd>> ends_;           ///< by slot; of what is still valid
  std::map<std::string, std::set<std::size_t>> other_builds_;
  std::vector<std::vector<TuningRace>> races_;  ///< by family and bracket
  std::vector<std::size_t> order_;              ///< of the slots, in which they are begun
  std::vector<std::optional<TunedFamily>> tuned_;
};

}  // namespace gv
