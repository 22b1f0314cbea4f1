#pragma once

#include <optional>
#include <span>
#include <vector>

namespace gv {

/// A mean and the interval that covers the true one with the asked probability.
struct MeanInterval {
  double mean = 0;
  double low = 0, high = 0;
  double deviation = 0;  ///< of one value, with n - 1
  std::size_t n = 0;
};

/// Fewer values give no interval: with two, t has one degree of freedom and says nothing.
inline constexpr std::size_t fewest_seeds = 3;

/// Student's interval of the mean; nothing for fewer than `fewest_seeds` values.
std::optional<MeanInterval> mean_interval(std::span<const double> values, double covers = 0.95);

/// The two-sided p value of the mean being zero; 1 for fewer than `fewest_seeds` values.
double mean_is_zero(std::span<const double> values);

/// Holm 1979, "A simple sequentially rejective multiple test procedure": each p value made larger
/// so that, all hypotheses true, the chance that any is below a level is at most that level. In the
/// order given.
std::vector<double> holm(std::span<const double> p_values);

/// Returns whether the mean is within -margin .. margin: two one-sided tests at 5 % each
/// (Schuirmann 1987), the 90 % interval within the margins. False for fewer than `fewest_seeds`.
bool equivalent(std::span<const double> values, double margin);

/// The exact two-sided p value of the sign-flip test (Fisher 1935): the share of all choices of
/// signs whose sum is as far from zero as this one. It cannot be below 2 / 2^n. Nothing for no
/// values or more than 20.
std::optional<double> sign_flip(std::span<const double> values);

/// Returns how many values of such a mean and deviation a t test at 5 % needs to see that the mean
/// is not zero four times out of five. Nothing where more than `most` would be needed.
std::optional<std::size_t> values_needed(const MeanInterval& seen, std::size_t most = 1000);

}  // namespace gv
