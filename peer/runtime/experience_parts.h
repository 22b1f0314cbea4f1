#pragma once

#include <memory>
#include <vector>

#include "gossip/experience.h"
#include "peer/fleet/fleet.h"

// The parts of actors and memories in a fleet of agents.

namespace gv {

std::shared_ptr<ExperiencePart> memory_part(const Fleet& fleet, const Setup& setup, PeerId memory);
/// `start` is the first model of all peers; empty if it is drawn.
std::shared_ptr<ExperiencePart> actor_part(const Fleet& fleet,
                                           const Setup& setup,
                                           PeerId actor,
                                           std::vector<float> start);

}  // namespace gv
