#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tests/explore/small_fleet.h"

namespace gv::explore {

struct Findings {
  std::uint64_t states = 0;
  std::uint64_t steps = 0;        ///< number of transitions
  std::uint64_t ends = 0;         ///< number of states in which nothing can happen any more
  bool complete = true;           ///< whether all states were visited; else there were too many
  std::string violation;          ///< the violation found; empty if there is none
  std::vector<std::string> path;  ///< steps to the violation
};

/// Tries everything that may happen to a fleet, depth first, and visits each state once. A peer
/// cannot be copied, so the path to a state is replayed for each of its choices but one.
Findings explore(const Shape& shape, const Rules& rules);

}  // namespace gv::explore
