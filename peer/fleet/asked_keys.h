#pragma once

#include <set>
#include <string>

namespace gv {

/// The keys that the readers ask a fleet file for, whether it has them or not, by their paths:
/// "train.optimizer.lr"; of a list's items "peers.host". Which they are depends on what the file
/// says: only a `dirichlet` partition asks for `data.partition.alpha`. Throws FleetError like
/// read_fleet.
std::set<std::string> asked_keys(const std::string& path);

}  // namespace gv
