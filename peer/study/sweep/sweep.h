#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "peer/fleet/json/json.h"
#include "peer/launch/process/process.h"
#include "peer/study/sweep/plan/trial_plan.h"
#include "peer/study/sweep/plan/tuning.h"
#include "peer/study/sweep/sweep_folder.h"
#include "peer/study/sweep/trial_job.h"

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

/// Processes that run trials, one at a time each. If a process dies, its trial fails and a new
/// process replaces it. None outlives the pool or this process.
class WorkerPool {
 public:
  struct Running {
    TrialJob job;
    std::uint64_t round = 0;
    std::uint64_t rounds = 0;  ///< 0 if unknown
    std::chrono::steady_clock::time_point since;
  };
  struct Ended {
    TrialJob job;
    TrialOutcome outcome;
  };

  /// Each process is started as `program sweep --worker stdin`.
  WorkerPool(std::string program, std::size_t size);

  bool has_room() const;
  /// Throws std::runtime_error if no process can be started.
  void start(const TrialJob& job);
  /// Waits until a trial ends, a signal arrives or the time is over.
  std::vector<Ended> wait(std::chrono::milliseconds most);
  std::vector<Running> running() const;

 private:
  struct Worker {
    std::unique_ptr<Child> child;
    std::optional<Running> running;
    std::deque<std::string> last_words;
  };
  void hear(Worker& worker, std::vector<Ended>& ended);
  void handle_line(Worker& worker, const std::string& line, std::vector<Ended>& ended);

  std::string program_;
  std::vector<Worker> workers_;
};

/// Runs a worker process: reads jobs as lines from stdin and writes outcomes to stdout until stdin
/// ends. `program`: used for real runs.
int run_worker(const std::string& program, const std::string& version);

struct SweepOptions {
  std::string program;      ///< path of this program
  std::size_t workers = 1;  ///< simultaneous trials
  std::function<bool()> interrupted;
};

/// Callbacks while a sweep runs.
struct SweepEvents {
  std::function<void(const TrialSlot&, const TrialOutcome&)> on_end;
  std::function<void(std::size_t family, const TunedFamily&)> on_tuned;
  /// Called often; `elsewhere`: the other process that this one waits for.
  std::function<void(const std::vector<WorkerPool::Running>&, const std::string& elsewhere)>
      on_tick;
};

/// Runs a sweep together with other invocations: claims ready trials in the order of their numbers,
/// passes them to workers and handles the outcomes until nothing is left here or elsewhere. Uses
/// processes, not threads.
class Sweep {
 public:
  Sweep(const SweepPlan& plan,
        const SweepFolder& folder,
        SweepState& state,
        SweepOptions options,
        SweepEvents events);

  /// Returns false if interrupted.
  bool run();
  /// Returns the trials that failed in this process, with reasons.
  const std::map<std::size_t, std::string>& failed() const { return failed_; }
  std::size_t finished() const { return finished_; }  ///< in this process

 private:
  void start_what_is_ready();
  bool more_has_come();
  bool start(const ReadyTrial& trial);
  void take(const WorkerPool::Ended& ended);
  void drop_spent();
  void tell_tuned();

  const SweepPlan& plan_;
  const SweepFolder& folder_;
  SweepState& state_;
  SweepOptions options_;
  SweepEvents events_;
  Claims claims_;
  WorkerPool pool_;
  std::map<std::size_t, std::string> failed_;  ///< by trial number
  std::set<std::size_t> ours_;                 ///< slots that run or failed here
  std::set<std::size_t> running_;              ///< slots
  std::set<std::size_t> told_;                 ///< families
  std::set<std::size_t> dropped_;              ///< slots whose checkpoints are deleted
  std::string elsewhere_;
  bool left_ = false;  ///< something is ready that this process does not run yet
  std::size_t finished_ = 0;
};

/// The expected cost of a sweep. It includes that later rungs resume from earlier ones, but not
/// that diverged trials end early.
struct SweepEstimate {
  std::size_t tuned_families = 0;
  double tuning_trainings = 0;  ///< in full trainings
  std::size_t tuning_trials = 0;
  std::size_t trainings = 0;    ///< trainings to measure
  std::size_t replays = 0;      ///< trials that only run the clock
  double training_seconds = 0;  ///< mean of one training, on one core
  double measured_seconds = 0;  ///< duration of the estimate's own measurement
  std::size_t workers = 1;
  MemoryRoom memory;  ///< not measured for real runs
  double wall_seconds = 0;
  double disk_bytes = 0;
  double checkpoint_bytes = 0;  ///< in addition, during tuning: checkpoints for promotion
};

/// Trains some families for about two seconds in total, in this process and on one core, and counts
/// CPU time; on busy cores the sweep takes longer. Real runs are only counted. `memory`: the
/// figures that have already limited `workers`.
SweepEstimate estimate_sweep(const SweepPlan& plan, std::size_t workers, MemoryRoom memory);

std::string estimate_text(const SweepPlan& plan, const SweepEstimate& estimate);
Json estimate_json(const SweepPlan& plan, const SweepEstimate& estimate);

using FailedTrials = std::map<std::size_t, std::string>;  ///< reasons by trial number

/// Reads the arguments of --only. Throws std::invalid_argument with the valid labels.
CellPattern only_pattern(const std::vector<std::string>& only, const SweepPlan& plan);

/// Estimates the remaining time from the trials finished in this process.
class SweepClock {
 public:
  SweepClock(const SweepPlan& plan, const SweepState& state);
  void count() { ++finished_; }
  std::optional<double> left() const;  ///< seconds

 private:
  const SweepState& state_;
  std::chrono::steady_clock::time_point began_;
  std::size_t finished_ = 0;
};

/// "tune 30/48  measure 21/48  2 running: one-peer s3 61 %  11 min left"
std::string progress_text(const SweepPlan& plan,
                          const SweepState& state,
                          const std::vector<WorkerPool::Running>& running,
                          const std::string& elsewhere,
                          std::optional<double> left);
/// "tune    d-psgd  12 trials  lr 0.08  935 rounds (base: 1.04x)"
std::string tuned_text(const SweepPlan& plan, std::size_t family, const TunedFamily& tuned);
/// Returns a line for each trial; ends with a newline, as does end_text.
std::string list_text(const SweepPlan& plan, const SweepFolder& folder, const SweepState& state);
/// Returns a summary of all trials, and the command that compares them.
std::string end_text(const SweepPlan& plan,
                     const SweepFolder& folder,
                     const SweepState& state,
                     const FailedTrials& failed);
/// Returns a line for each other build whose trials count as done: "warning: 3 trials are of
/// another build than this one: grapevine 1.0 (g++ 12.2.0, Release, sources ..)". Empty if all are
/// from this build, or contain no build.
std::string kept_builds_text(const SweepPlan& plan,
                             const SweepState& state,
                             const std::string& build);
/// Returns a line for each other build whose trials do not count and run again, with a way to keep
/// them; empty if there are none.
std::string left_builds_text(const SweepState& state);
/// Returns the summary as JSON, {"schema": "grapevine.sweep/1", ...}. The caller adds what was
/// finished in this process.
Json sweep_json(const SweepPlan& plan,
                const SweepFolder& folder,
                const SweepState& state,
                const FailedTrials& failed);

}  // namespace gv
