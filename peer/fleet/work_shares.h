#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "peer/fleet/fleet.h"
#include "peer/fleet/keys/key_words.h"

namespace gv {

/// Batches in proportion to `speeds` (each above 0), so that peers of unequal machines end a
/// gradient at the same time; their sum is speeds.size() * mean. Rounded by largest remainders
/// (Hamilton's method; Balinski & Young, "Fair Representation", 1982), ties to the lower peer.
/// Nothing when the slowest would get less than one sample.
std::optional<std::vector<std::uint32_t>> batch_shares(std::span<const double> speeds,
                                                       std::uint32_t mean);

/// Returns what the fastest would get, before rounding; batch_shares can count up to 4e9.
double largest_share(std::span<const double> speeds, std::uint32_t mean);

/// Returns the factor by which the mean of the fleet's gradients is noisier than with equal batches
/// of the same sum: each peer's gradient counts alike, whatever it was made of, so the variance is
/// (sigma/n)^2 sum 1/b_i instead of sigma^2 / (n b). At least 1.
double noise_of_unequal(std::span<const std::uint32_t> batches);

// Local steps go by batch_shares() in proportion to the gradients that each peer can take in a
// second, so that all end a round's steps at about the same time.

/// Gradients that each peer takes in a second, in a unit that all share: its speed over its batch.
std::vector<double> gradient_rates(std::span<const PeerSpec> peers);

/// The least mean for which the slowest peer's share is a whole step; nothing above
/// most_local_steps.
std::optional<std::uint32_t> least_mean_steps(std::span<const double> rates);

}  // namespace gv
