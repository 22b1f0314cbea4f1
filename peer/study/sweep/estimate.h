#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "peer/fleet/json/json.h"
#include "peer/study/sweep/trial_job.h"
#include "peer/study/sweep/trial_plan.h"

namespace gv {

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

/// "1 cell", "3 cells"; `many`: the plural if it is irregular.
inline std::string counted(std::size_t number,
                           const std::string& one,
                           const std::string& many = "") {
  return std::to_string(number) + " " + (number == 1 ? one : many.empty() ? one + "s" : many);
}

}  // namespace gv
