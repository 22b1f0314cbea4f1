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

#include "peer/study/sweep/plan/trial_plan.h"
#include "peer/study/sweep/plan/tuning.h"
#include "peer/study/sweep/sweep_folder.h"

namespace gv {

/// The race between the points of a bracket: which places of which rungs may run, and their
/// results. It is determined by the scores alone, so that all processes agree; with `asha` also by
/// the claims, because each process finishes the trials that it has begun.
class TuningRace {
 public:
  /// `seeds`: number of scores per place. The bracket must outlive this object.
  TuningRace(const TuningBracket& bracket, std::size_t seeds);

  /// Places by rung.
  using Places = std::set<std::pair<std::size_t, std::size_t>>;

  /// Sets the places claimed by any process; replaces the previous ones.
  void set_claimed(Places claimed) { claimed_ = std::move(claimed); }
  /// Adds the score of one seed.
  void take(std::size_t rung, std::size_t place, const TrialScore& score);

  /// Returns the point at this place; nothing if it is not known yet.
  std::optional<std::size_t> point_at(std::size_t rung, std::size_t place) const;
  /// Returns the place of a point in this rung; nothing if the point is not there, or if that is
  /// not known yet.
  std::optional<std::size_t> place_of(std::size_t rung, std::size_t point) const;
  /// Returns whether a trial of the next rung may still resume from this place.
  bool may_be_promoted(std::size_t rung, std::size_t place) const;
  /// Returns whether the trials of a place should run, or have run.
  bool is_open(std::size_t rung, std::size_t place) const;
  /// Returns whether nothing is left to run.
  bool done() const;

  struct Scored {
    std::size_t point = 0;
    TrialScore score;  ///< median over the seeds
  };
  /// Returns the points of a rung for which all seeds are known.
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
  std::vector<std::vector<std::size_t>> points_;              ///< by rung and place, if known
  std::vector<std::set<std::size_t>> promoted_;               ///< asha: points by rung
  Places claimed_;
};

/// A trial with everything it needs to run.
struct ReadyTrial {
  std::size_t slot = 0;  ///< index in the plan
  std::vector<std::string> sets;
  TrialIdentity identity;
  double fraction = 1;
  std::string replay_of;     ///< folder; none if it is trained
  std::string goes_on_from;  ///< folder of the trial in the previous rung to resume; may be none
  bool keeps_state = false;  ///< its trial in the next rung may resume from it
};

/// The result of a family's tuning.
struct TunedFamily {
  TuningPoint values;  ///< none: the base file's values
  TrialScore score;
  std::optional<TrialScore> base;  ///< score of the base file's values, if trained in full
  std::vector<TuningEdge> edges{};
};

/// The state of a sweep according to its folder: finished trials, and those that can run next. All
/// processes see the same state, so that several invocations agree without communication.
class SweepState {
 public:
  /// `only`: selects trials by the plan's axes, `seed` and `stage`, together with the tuning that
  /// they need. `build`: if not empty, only trials of this build count as done.
  SweepState(const SweepPlan& plan, const SweepFolder& folder, CellPattern only, std::string build);

  /// Reads what has changed since.
  void refresh();
  /// Reads the state of one slot, and returns whether it is done.
  bool look_at(std::size_t slot);
  /// Returns at most `most` trials in the order of their numbers, without `except`; trials that
  /// asha has promoted come first.
  std::vector<ReadyTrial> ready(const std::set<std::size_t>& except, std::size_t most);

  /// Returns whether the checkpoints of this slot's finished trial are useless: no trial will
  /// resume from them, or one already has.
  bool is_spent(std::size_t slot) const;
  /// Returns whether the trial is selected; asha trials must also be promoted.
  bool wanted(std::size_t slot) const;
  const std::optional<TrialEnd>& end(std::size_t slot) const { return ends_[slot]; }
  std::size_t count(TrialSlot::Stage stage) const;       ///< wanted trials
  std::size_t count_done(TrialSlot::Stage stage) const;  ///< wanted trials that are done
  /// Returns the slots whose trial counts as not done only because of its build, by build.
  const std::map<std::string, std::set<std::size_t>>& other_builds() const { return other_builds_; }
  /// Returns nothing if the result is not known yet, or if there is nothing to tune.
  const std::optional<TunedFamily>& tuned(std::size_t family) const { return tuned_[family]; }
  /// Returns the tuned values of a slot's trial; nothing if they are not known yet.
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
  std::vector<std::optional<TrialEnd>> ends_;           ///< by slot; valid ends only
  std::map<std::string, std::set<std::size_t>> other_builds_;
  std::vector<std::vector<TuningRace>> races_;  ///< by family and bracket
  std::vector<std::size_t> order_;              ///< order in which slots begin
  std::vector<std::optional<TunedFamily>> tuned_;
};

}  // namespace gv
