#pragma once

#include <string>
#include <string_view>

#include "gossip/setup.h"

namespace gv {

// Refusals that several methods share: why one does not take this setup, and the nearest thing that
// can; "": it does. `kind`: as the fleet file names the method.

/// Of one whose corrections are of one gradient in each round.
std::string objection_to_many_steps(const Setup& setup, std::string_view kind);

/// Of one with a momentum of its own, of which the option `by` says how much.
std::string objection_to_second_momentum(const Setup& setup,
                                         std::string_view kind,
                                         std::string_view by);

/// Of one that takes for a peer's gradients what its steps have moved it by, divided by their rate.
std::string objection_to_other_steps(const Setup& setup, std::string_view kind);

/// Of one that waits for its neighbours while it takes steps: a wait for anybody else would hold up
/// what is under way with them.
std::string objection_to_waits(const Setup& setup, std::string_view kind);

/// Of one that goes on for `delay` inner steps before it waits.
std::string objection_to_delay(const Setup& setup, std::string_view kind);

/// Of one that ends at the optimum of everybody's data: gradients that each peer shortens by a
/// factor of its own no longer add up to zero there.
std::string objection_to_clip_norm(const Setup& setup, std::string_view kind);

}  // namespace gv
