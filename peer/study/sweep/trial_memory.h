#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "peer/study/sweep/trial_plan.h"

namespace gv {

/// Bytes that a simulated trial of this fleet takes of its own, in this process: its data where
/// they are not mapped from files, which all trials share, all replicas and messages of two rounds,
/// and what an evaluation adds to each. To be asked in a fresh process, since memory that was given
/// back before does not show.
double memory_in_this_process(const Fleet& fleet);

/// Runs such a process: a job's line on stdin, and {"bytes": ..} on stdout. Returns its exit code.
int tell_trial_memory();

/// The memory that trials take, and how much there is.
struct MemoryRoom {
  double trial_bytes = 0;                     ///< of the largest that was measured; 0: none
  std::optional<std::uint64_t> free_bytes{};  ///< nothing: not known
  std::string unmeasured{};                   ///< why the last one could not be; "": all could

  /// Returns how many of `wanted` trials fit at once; at least one. A tenth stays free, for what
  /// was not measured.
  std::size_t fitting(std::size_t wanted) const;
  /// "one trial takes 180 MB, and 12.3 GB are free"
  std::string words() const;
};

/// Asks for some families, evenly spread, each in a process of its own: `program sweep --worker
/// memory`. One that ends without a word costs its figure alone: what is wrong, its trials will
/// say. Throws std::runtime_error where no process can be started.
MemoryRoom memory_room(const SweepPlan& plan, const std::string& program);

}  // namespace gv
