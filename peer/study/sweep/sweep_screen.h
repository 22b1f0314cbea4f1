#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "peer/fleet/json/json.h"
#include "peer/study/sweep/sweep.h"
#include "peer/study/sweep/sweep_folder.h"
#include "peer/study/sweep/sweep_state.h"

namespace gv {

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
