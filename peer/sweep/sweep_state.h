#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "peer/sweep/sweep_folder.h"
#include "peer/sweep/trial_plan.h"
#include "peer/sweep/tuning.h"

namespace gv {

/// A trial of which everything is known that it needs.
struct ReadyTrial {
  std::size_t slot = 0;  ///< in the plan
  std::vector<std::string> sets;
  TrialIdentity identity;
  double fraction = 1;
  std::string replay_of;  ///< folder; "": it is trained
};

/// What a family's tuning found.
struct TunedFamily {
  std::size_t point = 0;  ///< 0: the base file's own values
  TuningPoint values;     ///< empty: the same
  TrialScore score;
  std::optional<TrialScore> base;  ///< of point 0, where it was trained in full
  std::vector<std::string> edges;  ///< see edges_of
};

/// What is done of a sweep, as its folder tells, and what can be done next. The same for everybody
/// who looks at the folder, so that several invocations agree without a word between them.
class SweepState {
 public:
  /// `only`: what is asked for, with the axes `seed` and `stage` beside the plan's; of others, the
  /// tuning that they need.
  SweepState(const SweepPlan& plan, const SweepFolder& folder, CellPattern only);

  /// Looks at what has come since.
  void refresh();
  /// In the order of their numbers; those of others and those that have failed among them.
  std::vector<ReadyTrial> ready();

  bool wanted(std::size_t slot) const { return wanted_[slot]; }
  const std::optional<TrialEnd>& end(std::size_t slot) const { return ends_[slot]; }
  std::size_t count(TrialSlot::Stage stage) const;       ///< wanted
  std::size_t count_done(TrialSlot::Stage stage) const;  ///< of those
  /// Nothing while it is not known yet, or when there is nothing to tune.
  const std::optional<TunedFamily>& tuned(std::size_t family) const { return tuned_[family]; }
  /// Which point a slot's trial has; nothing while that is not known.
  std::optional<std::size_t> point_of(const TrialSlot& slot) const;

 private:
  struct Resolved {
    std::size_t point = 0;
    std::vector<std::string> sets;
    TrialIdentity identity;
    bool replayable = false;
  };
  bool resolve(std::size_t slot);
  void rank(std::size_t family);
  std::vector<TrialScore> scores(std::size_t family, std::size_t rung) const;
  bool rung_is_done(std::size_t family, std::size_t rung) const;
  void conclude(std::size_t family);
  std::optional<std::string> source_of(std::size_t slot) const;

  const SweepPlan& plan_;
  const SweepFolder& folder_;
  std::vector<bool> wanted_;
  std::vector<std::optional<Resolved>> resolved_;       ///< by slot
  std::map<std::string, std::set<std::size_t>> alike_;  ///< slots by their bits
  std::vector<std::optional<TrialEnd>> ends_;           ///< by slot; of what is still valid
  /// By family: the points of each rung that is known, in the order of their places.
  std::vector<std::vector<std::vector<std::size_t>>> rungs_;
  std::vector<std::optional<TunedFamily>> tuned_;
};

}  // namespace gv
