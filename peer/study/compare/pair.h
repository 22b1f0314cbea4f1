#pragma once

#include <optional>
#include <vector>

#include "peer/study/compare/contender.h"

namespace gv {

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
