#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "peer/fleet/fleet.h"
#include "peer/fleet/keys/key_words.h"

namespace gv {

/// Returns batches in proportion to `speeds` (each above 0), so that peers of unequal machines
/// finish a gradient at the same time; their sum is speeds.size() * mean. Rounded by largest
/// remainders (Hamilton's method; Balinski & Young, "Fair Representation", 1982), ties to the lower
/// peer. Returns nothing if the slowest would get less than one sample.
std::optional<std::vector<std::uint32_t>> batch_shares(std::span<const double> speeds,
                                                       std::uint32_t mean);

/// Returns the fastest peer's share before rounding; batch_shares can count up to 4e9.
double largest_share(std::span<const double> speeds, std::uint32_t mean);

/// Returns the factor, at least 1, by which the variance of the fleet's mean gradient exceeds that
/// with equal batches of the same sum. Each peer's gradient counts alike, whatever its batch, so
/// the variance is (sigma/n)^2 sum 1/b_i instead of sigma^2 / (n b).
double noise_of_unequal(std::span<const std::uint32_t> batches);

// Local steps go by batch_shares() in proportion to the gradients that each peer can take in a
// second, so that all end a round's steps at about the same time.

/// Returns gradients per second of each peer, in a common unit: its speed over its batch.
std::vector<double> gradient_rates(std::span<const PeerSpec> peers);

/// Returns the least mean for which the slowest peer's share is a whole step; nothing if it is
/// above most_local_steps.
std::optional<std::uint32_t> least_mean_steps(std::span<const double> rates);

}  // namespace gv
