#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "peer/fleet/fleet.h"
#include "peer/fleet/keys/key_ranges.h"

namespace gv {

// Local steps go by batch_shares() in proportion to the gradients that each peer can take in a
// second, so that all end a round's steps at about the same time.

/// Gradients that each peer takes in a second, in a unit that all share: its speed over its batch.
std::vector<double> gradient_rates(std::span<const PeerSpec> peers);

/// The least mean for which the slowest peer's share is a whole step; nothing above
/// most_local_steps.
std::optional<std::uint32_t> least_mean_steps(std::span<const double> rates);

}  // namespace gv
