#pragma once

#include <map>
#include <string>
#include <vector>

namespace gv {

/// A group of runs and the keys of its fleet file, flattened by paths, with their values as
/// written.
struct FleetKeys {
  std::string name;
  std::size_t series = 0;
  std::map<std::string, std::string> keys;
};

/// The keys whose value is not the same in all, a column per group ("-" where a group does not set
/// it); below, folded, what they have in common. Empty without groups.
std::string fleet_diff(const std::vector<FleetKeys>& groups);

}  // namespace gv
