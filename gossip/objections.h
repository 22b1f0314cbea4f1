#pragma once

#include <string>
#include <string_view>

#include "gossip/setup.h"

namespace gv {

// Shared objections of methods: each function returns why a method rejects this setup, and the
// nearest alternative; "" if the method accepts it. `kind`: the method's name in the fleet file.

/// For a method whose corrections are for a single gradient in each round.
std::string objection_to_many_steps(const Setup& setup, std::string_view kind);

/// For a method with a momentum of its own, which the option `by` sets.
std::string objection_to_second_momentum(const Setup& setup,
                                         std::string_view kind,
                                         std::string_view by);

/// For a method that computes a peer's gradients from its move, divided by the rate.
std::string objection_to_other_steps(const Setup& setup, std::string_view kind);

/// For a method that waits for its neighbours while it takes steps: any other wait would hold up
/// messages that are under way.
std::string objection_to_waits(const Setup& setup, std::string_view kind);

/// For a method that continues for `delay` inner steps before it waits.
std::string objection_to_delay(const Setup& setup, std::string_view kind);

/// For a method that ends at the optimum of all peers' data: gradients that each peer shortens by
/// its own factor no longer add up to zero there.
std::string objection_to_clip_norm(const Setup& setup, std::string_view kind);

}  // namespace gv
