#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "peer/fleet/json/json.h"
#include "peer/study/sweep/trial_job.h"
#include "peer/study/sweep/trial_plan.h"

namespace gv {

/// The expected cost of a sweep. That diverged trials end early is not counted; that a later rung
/// of halving goes on from the one before is, where it does.
struct SweepEstimate {
  std::size_t tuned_families = 0;
  double tuning_trainings = 0;  ///< full ones' worth
  std::size_t tuning_trials = 0;
  std::size_t trainings = 0;    ///< to measure
  std::size_t replays = 0;      ///< by clock alone
  double training_seconds = 0;  ///< of one, on one core; the mean
  double measured_seconds = 0;  ///< for how long that was measured
  std::size_t workers = 1;
  MemoryRoom memory;  ///< of real runs nothing is measured
  double wall_seconds = 0;
  double disk_bytes = 0;
  double checkpoint_bytes = 0;  ///< beside these, while it tunes: of all who may be promoted
};

/// Trains some families for about two seconds together, in this process and on one core, and counts
/// the processor's time: on cores that others use, all takes longer. Of real runs only counts.
/// `memory`: of which the trials at a time are known already.
SweepEstimate estimate_sweep(const SweepPlan& plan, std::size_t workers, MemoryRoom memory);

std::string estimate_text(const SweepPlan& plan, const SweepEstimate& estimate);
Json estimate_json(const SweepPlan& plan, const SweepEstimate& estimate);

/// "1 cell", "3 cells"; `many` where an s is not enough.
inline std::string counted(std::size_t number,
                           const std::string& one,
                           const std::string& many = "") {
  return std::to_string(number) + " " + (number == 1 ? one : many.empty() ? one + "s" : many);
}

}  // namespace gv
