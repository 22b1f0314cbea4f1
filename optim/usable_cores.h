#pragma once

#include <optional>
#include <string>
#include <vector>

namespace gv {

/// The processors of the machine, and those of them that this process may use.
struct UsableCores {
  unsigned online = 1;            ///< of the machine
  unsigned allowed = 1;           ///< by CPU affinity
  std::optional<double> quota{};  ///< the control group's, in processors; none: no limit

  /// Returns the whole processors that threads can keep busy; at least 1.
  unsigned count() const;
};

/// Returns those of this process; the quota is the smallest of its control group and those around.
UsableCores usable_cores();

/// Returns the folders of the process's control group and of those around it, each with a slash at
/// its end; none if there is no cgroup v2 (cgroups(7)).
std::vector<std::string> control_groups();

/// Returns the quota of a `cpu.max`, "150000 100000" for one and a half processors (kernel
/// documentation, admin-guide/cgroup-v2); nothing for "max 100000" and other texts.
std::optional<double> quota_in(const std::string& cpu_max);

}  // namespace gv
