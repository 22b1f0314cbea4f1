#pragma once

#include <string>
#include <vector>

#include "peer/fleet/flat_keys.h"
#include "peer/model/checkpoint/checkpoint_store.h"
#include "peer/runtime/assembly.h"

namespace gv {

// A run that goes on as another fleet: with more peers, on another graph, for longer.

/// Says why a fleet cannot go on as another one, with what to do; "" when it can, as far as the
/// files say. `before` and `after`: all keys of both.
std::string growth_objection(const Assembly& was,
                             const FlatKeys& before,
                             const Assembly& is,
                             const FlatKeys& after);

/// The checkpoints of the fleet that goes on, made of those of the one that was, all of one round:
/// each peer keeps its model and its optimizer, and where its minibatches stand as long as it
/// trains on the same samples. A peer that is new takes the model and the optimizer of its first
/// neighbour that was there, or of that one's. Throws std::invalid_argument where the method keeps
/// more of a peer than these, so that nobody can take its place.
std::vector<Checkpoint> grown_checkpoints(const Assembly& was,
                                          const Assembly& is,
                                          const std::vector<Checkpoint>& past);

}  // namespace gv
