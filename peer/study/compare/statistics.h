#pragma once

#include <optional>
#include <span>
#include <vector>

#include "peer/study/compare/target.h"

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

/// Student's t with `freedom` > 0 degrees of freedom: P(T <= t). By the incomplete beta function's
/// continued fraction, Abramowitz & Stegun 1964, 26.5.8 and 26.7.1; relative error of either tail
/// below 1e-11 for 1 to 10,000 degrees.
double student_t_below(double t, double freedom);

/// P(|T| >= |t|).
double student_t_two_sided(double t, double freedom);

/// t with P(T <= t) = p, for p in (0, 1); relative error below 1e-10.
double student_t_quantile(double p, double freedom);

/// The outcome of a comparison of two contenders in one measure.
enum class PairOutcome : std::uint8_t {
  before,     ///< the first one is better, by the paired interval after Holm's correction
  behind,     ///< the other is
  same,       ///< equivalent within 3 % (of an accuracy: 1 percentage point)
  untold,     ///< none of that
  few_seeds,  ///< fewer than 3 seeds in common: nothing can be said
};

/// Two contenders, seed by seed: the same seed has the same split, first weights and batches.
struct PairResult {
  std::size_t a = 0, b = 0;  ///< places in the section
  Measure measure = Measure::time;
  bool ratio = true;       ///< else differences: of accuracies, and of losses that are not positive
  std::size_t seeds = 0;   ///< in common
  std::size_t missed = 0;  ///< of these, where one of the two missed the target or has no value
  std::vector<double> differences;  ///< b against a, by seed: of logarithms where `ratio`
  std::optional<double> center;     ///< b / a or b - a; nothing where a value is missing
  std::optional<double> low, high;  ///< its 95 % interval
  double p = 1;                     ///< that there is no difference
  double p_holm = 1;                ///< corrected for all pairs of the section
  std::optional<double> p_sign_flip;
  std::optional<std::size_t> seeds_needed;  ///< that would tell the two apart
  PairOutcome outcome = PairOutcome::few_seeds;
};

/// The fewest pairs that decide, where one is before in all, when a missed target leaves no ratio.
inline constexpr std::size_t fewest_with_misses = 5;

/// The margins within which two count as the same where nobody names others.
inline constexpr double usual_ratio_margin = 0.03;
inline constexpr double usual_accuracy_margin = 0.01;

/// One pair, before any correction.
PairResult compare_pair(const std::vector<Contender>& section,
                        std::size_t a,
                        std::size_t b,
                        Measure measure);

/// All pairs of a section, a < b, corrected together: whichever two are looked at afterwards, the
/// chance of any false `before` in a section without differences is at most 5 %.
std::vector<PairResult> compare_all(const std::vector<Contender>& section, Measure measure);

/// The one of two contenders, with a as its first.
PairResult find_pair(const std::vector<PairResult>& pairs, std::size_t a, std::size_t b);

}  // namespace gv
