#pragma once

#include <optional>
#include <span>
#include <vector>

#include "peer/study/compare/target.h"

namespace gv {

/// A mean, and the interval that covers the true mean with a given probability.
struct MeanInterval {
  double mean = 0;
  double low = 0, high = 0;
  double deviation = 0;  ///< standard deviation of one value, with n - 1
  std::size_t n = 0;
};

/// Fewest values for an interval: with two, t has one degree of freedom and is useless.
inline constexpr std::size_t fewest_seeds = 3;

/// Returns the median of at least one value: the mean of the middle two of an even number.
double middle(std::vector<double> values);

/// Returns Student's interval of the mean; nothing for fewer than `fewest_seeds` values.
std::optional<MeanInterval> mean_interval(std::span<const double> values, double covers = 0.95);

/// Returns the two-sided p value of a zero mean; 1 for fewer than `fewest_seeds` values.
double mean_is_zero(std::span<const double> values);

/// Returns p values corrected by Holm 1979, "A simple sequentially rejective multiple test
/// procedure", in the given order: if all hypotheses are true, the chance that any p value is below
/// a level is at most that level.
std::vector<double> holm(std::span<const double> p_values);

/// Returns whether the mean is within -margin .. margin, by two one-sided tests at 5 % each
/// (Schuirmann 1987): the 90 % interval is inside. False for fewer than `fewest_seeds`.
bool equivalent(std::span<const double> values, double margin);

/// Returns the exact two-sided p value of the sign-flip test (Fisher 1935): the fraction of all
/// choices of signs whose sum is at least as far from zero as the given one. It is at least 2 /
/// 2^n. Returns nothing for no values or more than 20.
std::optional<double> sign_flip(std::span<const double> values);

/// Returns how many values with this mean and deviation a t test at 5 % needs to detect a nonzero
/// mean with a power of 80 %. Returns nothing if more than `most` are needed.
std::optional<std::size_t> values_needed(const MeanInterval& seen, std::size_t most = 1000);

/// Returns P(T <= t) for Student's t with `freedom` > 0 degrees of freedom, by the continued
/// fraction of the incomplete beta function, Abramowitz & Stegun 1964, 26.5.8 and 26.7.1. The
/// relative error of either tail is below 1e-11 for 1 to 10,000 degrees.
double student_t_below(double t, double freedom);

/// Returns P(|T| >= |t|).
double student_t_two_sided(double t, double freedom);

/// Returns t with P(T <= t) = p, for p in (0, 1); relative error below 1e-10.
double student_t_quantile(double p, double freedom);

/// The outcome of a comparison of two contenders in one measure.
enum class PairOutcome : std::uint8_t {
  before,     ///< the first is better, by the paired interval after Holm's correction
  behind,     ///< the second is better
  same,       ///< equivalent within 3 % (accuracies: 1 percentage point)
  untold,     ///< no significant difference
  few_seeds,  ///< fewer than 3 seeds in common: no statement
};

/// Two contenders, compared by seed: a seed fixes the split, the initial weights and the batches.
struct PairResult {
  std::size_t a = 0, b = 0;  ///< indices in the section
  Measure measure = Measure::time;
  bool ratio = true;       ///< else a difference: for accuracies, and losses that are not positive
  std::size_t seeds = 0;   ///< number of common seeds
  std::size_t missed = 0;  ///< common seeds with which one missed the target or has no value
  std::vector<double> differences;  ///< b against a, by seed; logarithms if `ratio`
  std::optional<double> center;     ///< b / a or b - a; none if a value is missing
  std::optional<double> low, high;  ///< 95 % interval of `center`
  double p = 1;                     ///< p value of no difference
  double p_holm = 1;                ///< p corrected for all pairs of the section
  std::optional<double> p_sign_flip;
  std::optional<std::size_t> seeds_needed;  ///< seeds needed for a significant difference
  PairOutcome outcome = PairOutcome::few_seeds;
};

/// Level of significance of a corrected p value.
inline constexpr double significance = 0.05;

/// Fewest pairs that decide if one contender is better in all and a missed target leaves no ratio.
inline constexpr std::size_t fewest_with_misses = 5;

/// Default margins within which two contenders count as the same.
inline constexpr double usual_ratio_margin = 0.03;
inline constexpr double usual_accuracy_margin = 0.01;

/// Compares one pair, without correction.
PairResult compare_pair(const std::vector<Contender>& section,
                        std::size_t a,
                        std::size_t b,
                        Measure measure);

/// Compares all pairs of a section, a < b, and corrects them together: the chance of any false
/// `before` in a section without differences is at most 5 %, whichever pairs are looked at later.
std::vector<PairResult> compare_all(const std::vector<Contender>& section, Measure measure);

/// Returns the result for two contenders, with a as the first.
PairResult find_pair(const std::vector<PairResult>& pairs, std::size_t a, std::size_t b);

}  // namespace gv
