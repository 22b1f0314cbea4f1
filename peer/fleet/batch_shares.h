#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

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

}  // namespace gv
