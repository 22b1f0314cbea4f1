#pragma once

#include <memory>
#include <vector>

#include "gossip/experience.h"
#include "peer/fleet/fleet.h"

// What actors and memories of a fleet of agents are made of.

namespace gv {

std::shared_ptr<ExperiencePart> memory_part(const Fleet& fleet, const Setup& setup, PeerId memory);
/// `start`: what all peers begin with, where it is not drawn.
std::shared_ptr<ExperiencePart> actor_part(const Fleet& fleet,
                                           const Setup& setup,
                                           PeerId actor,
                                           std::vector<float> start);

}  // namespace gv
