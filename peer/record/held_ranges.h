#pragma once

#include <vector>

#include "gossip/journal.h"
#include "optim/range.h"

namespace gv {

struct Fleet;

/// Where in the fleet's model the values of a report's model stand, one range behind the other.
std::vector<Range> held_ranges(const Report& report);
/// Returns whether they can: as many as there are values, ascending, within a model of so many.
bool fit_model(const Report& report, std::size_t dimension);
/// Returns whether an untrusted report can belong to this fleet, whose model has `dimension`
/// values: it names existing peers and chains, its values fit the model, and a peer that trains a
/// whole model reports all of it.
bool can_be_of(const Fleet& fleet, std::size_t dimension, const Report& report);

}  // namespace gv
