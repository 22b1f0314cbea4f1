#pragma once

#include <cstdint>
#include <optional>

#include <sys/types.h>

namespace gv {

/// The time and memory that a process has used so far.
struct ProcessUsage {
  double cpu_seconds = 0;          ///< of all its threads
  double age_seconds = 0;          ///< since it was started
  std::uint64_t memory_bytes = 0;  ///< resident
};

/// Reads /proc/PID/stat (proc(5)); none: there is no such process any more.
std::optional<ProcessUsage> usage_of(pid_t pid);

}  // namespace gv
