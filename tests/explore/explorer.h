#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tests/explore/small_fleet.h"

namespace gv::explore {

struct Findings {
  std::uint64_t states = 0;
  std::uint64_t steps = 0;        ///< from state to state
  std::uint64_t ends = 0;         ///< states in which nothing can happen any more
  bool complete = true;           ///< else there are more states than were to be looked at
  std::string violation;          ///< empty: none
  std::vector<std::string> path;  ///< to the violation
};

/// Tries everything that may happen to a fleet, in depth first order, and each state once. A peer
/// cannot be copied, so the way to a state is gone again for each of its choices but one.
Findings explore(const Shape& shape, const Rules& rules);

}  // namespace gv::explore
