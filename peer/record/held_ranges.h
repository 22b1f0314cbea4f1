#pragma once

#include <vector>

#include "gossip/journal.h"
#include "optim/range.h"

namespace gv {

/// Where in the fleet's model the values of a report's model stand, one range behind the other.
std::vector<Range> held_ranges(const Report& report);
/// Returns whether they can: as many as there are values, ascending, within a model of so many.
bool fit_model(const Report& report, std::size_t dimension);

}  // namespace gv
