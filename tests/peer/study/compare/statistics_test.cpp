#include "peer/study/compare/statistics.h"

#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "optim/rng.h"
#include "tests/peer/record/runs/stored_runs.h"

namespace gv {
namespace {

using Values = std::vector<double>;

TEST(Statistics, TheIntervalIsStudents) {
  // Gosset 1908, extra hours of sleep with the second drug: mean 2.33, deviation 2.002.
  const Values sleep{1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4};
  const auto interval = mean_interval(sleep);
  ASSERT_TRUE(interval);
  EXPECT_NEAR(interval->mean, 2.33, 1e-12);
  EXPECT_NEAR(interval->deviation, 2.002249, 1e-6);
  EXPECT_NEAR(interval->low, 2.33 - 2.262157 * 2.002249 / std::sqrt(10), 1e-6);
  EXPECT_NEAR(interval->high, 2.33 + 2.262157 * 2.002249 / std::sqrt(10), 1e-6);
  EXPECT_FALSE(mean_interval(Values{1, 2}));
}

TEST(Statistics, EqualValuesHaveNoWidth) {
  const auto interval = mean_interval(Values{0.1, 0.1, 0.1});
  ASSERT_TRUE(interval);
  EXPECT_EQ(interval->low, interval->high);
  EXPECT_EQ(mean_is_zero(Values{0.1, 0.1, 0.1}), 0);
  EXPECT_EQ(mean_is_zero(Values{0, 0, 0}), 1);
}

TEST(Statistics, HolmByHand) {
  const Values adjusted = holm(Values{0.01, 0.04, 0.03, 0.005});
  const Values expected{0.03, 0.06, 0.06, 0.02};  // 3 p, max, 2 p, 4 p
  for (std::size_t k = 0; k < 4; ++k) EXPECT_NEAR(adjusted[k], expected[k], 1e-12);
  EXPECT_TRUE(holm(Values{}).empty());
  EXPECT_EQ(holm(Values{0.9, 0.8}), (Values{1, 1}));
}

TEST(Statistics, AlikeMeansThatBothOneSidedTestsSaySo) {
  EXPECT_TRUE(equivalent(Values{0.001, -0.001, 0.002, 0.0}, 0.03));
  EXPECT_FALSE(equivalent(Values{0.02, 0.05, -0.03, 0.01}, 0.03));
  EXPECT_FALSE(equivalent(Values{0.001, 0.001}, 0.03));
  // The 90 % interval of {1, 2, 3} ends at 2 + 2.919986 / sqrt(3).
  const double end = 2 + 2.9199855803555175 / std::sqrt(3.0);
  EXPECT_TRUE(equivalent(Values{1, 2, 3}, end * 1.000001));
  EXPECT_FALSE(equivalent(Values{1, 2, 3}, end * 0.999999));
}

TEST(Statistics, SignFlipsAreCounted) {
  EXPECT_DOUBLE_EQ(*sign_flip(Values{1, 2, 3, 4, 5, 6}), 2.0 / 64);
  // The sum of -1, 2, 3 is 4. Sums of +6, -6 and +-4 are as far from 0; +-2 and 0 are not.
  EXPECT_DOUBLE_EQ(*sign_flip(Values{-1, 2, 3}), 4.0 / 8);
  EXPECT_DOUBLE_EQ(*sign_flip(Values{0.1, 0.2, -0.3}), 1);
  EXPECT_FALSE(sign_flip(Values(21, 1.0)));
}

TEST(Statistics, SeedsThatWouldTell) {
  const auto needed = [](double mean, double deviation) {
    return values_needed({.mean = mean, .low = 0, .high = 0, .deviation = deviation, .n = 3});
  };
  // scipy: power 0.8 of a t test at an effect of 0.8 needs 15 values. The sum of quantiles is
  // close.
  EXPECT_NEAR(static_cast<double>(*needed(0.8, 1)), 15, 1);
  EXPECT_EQ(needed(10, 0.1), 3U);
  EXPECT_FALSE(needed(0, 1));
  EXPECT_FALSE(needed(0.001, 1));
}

/// 2,000 draws for each number of seeds: the intervals have the promised coverage.
TEST(Statistics, IntervalsCoverTheTruth) {
  Rng rng(17);
  constexpr int draws = 2000;
  for (std::size_t n = 3; n <= 10; ++n) {
    int covered = 0;
    for (int draw = 0; draw < draws; ++draw) {
      Values values(n);
      for (double& value : values) value = 0.3 + 0.2 * rng.normal();
      const auto interval = mean_interval(values);
      covered += interval->low <= 0.3 && 0.3 <= interval->high ? 1 : 0;
    }
    // The standard error of the share is 0.49 %. The tolerance is four errors to each side.
    EXPECT_NEAR(covered / static_cast<double>(draws), 0.95, 0.02) << n;
  }
}

/// Four methods cost the same, but seeds are easy or hard for all methods. In at most 5 % of such
/// families may a method be wrongly first.
TEST(Statistics, WhereNobodyIsBeforeFewAreSaidToBe) {
  Rng rng(23);
  constexpr int families = 1000;
  for (const std::uint64_t n : {3U, 6U, 10U}) {
    int wrong = 0;
    for (int family = 0; family < families; ++family) {
      std::vector<StoredRun> runs;
      for (std::uint64_t seed = 0; seed < n; ++seed) {
        const double hard = std::exp(0.5 * rng.normal());
        for (const char* method : {"a", "b", "c", "d"})
          runs.push_back(run_of({{"topology.kind", method}}, seed,
                                hard * std::exp(0.1 * rng.normal()), 20, 10));
      }
      const RunTable table = group_runs(runs);
      std::vector<Contender> section;
      for (const RunGroup& group : table.groups)
        section.push_back(make_contender(table, group, std::nullopt, {}));
      const auto pairs = compare_all(section, Measure::time);
      ASSERT_EQ(pairs.size(), 6U);
      wrong += std::ranges::any_of(pairs,
                                   [](const PairResult& p) {
                                     return p.outcome == PairOutcome::before ||
                                            p.outcome == PairOutcome::behind;
                                   })
                   ? 1
                   : 0;
    }
    // The standard error at 5 % is 0.69 %. The tolerance is three errors.
    EXPECT_LE(wrong / static_cast<double>(families), 0.05 + 0.021) << n;
  }
}

}  // namespace
}  // namespace gv
