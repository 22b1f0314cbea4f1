#include <algorithm>
#include <functional>
#include <limits>

#include <gtest/gtest.h>

#include "optim/rng.h"
#include "peer/study/predict/parallel/proposals.h"

namespace gv {
namespace {

PartitionProblem drawn(Rng& rng) {
  PartitionProblem p;
  const std::size_t pieces = 1 + rng.below(9);
  const std::size_t stages = 1 + rng.below(std::min<std::uint64_t>(4, pieces));
  for (std::size_t k = 0; k < pieces; ++k) p.seconds.push_back(0.1 + rng.uniform());
  for (std::size_t k = 0; k + 1 < pieces; ++k) p.crossing.push_back(rng.uniform() * 0.7);
  for (std::size_t s = 0; s < stages; ++s) p.speeds.push_back(0.5 + rng.uniform());
  p.microbatches = 1 + static_cast<std::uint32_t>(rng.below(16));
  return p;
}

/// Tries every way in turn, with arithmetic of its own.
double best_of_all(const PartitionProblem& p) {
  double best = std::numeric_limits<double>::infinity();
  const std::size_t n = p.seconds.size();
  const std::function<void(std::size_t, std::size_t, double, double)> go =
      [&](std::size_t stage, std::size_t first, double way, double slowest) {
        if (stage == p.speeds.size()) {
          if (first == n) best = std::min(best, way + (p.microbatches - 1) * slowest);
          return;
        }
        double takes = 0;
        for (std::size_t end = first + 1; end <= n; ++end) {
          takes += p.seconds[end - 1] / p.speeds[stage];
          const double cross = end < n ? p.crossing[end - 1] : 0;
          go(stage + 1, end, way + takes + 2 * cross, std::max({slowest, takes, cross}));
        }
      };
  go(0, 0, 0, 0);
  return best;
}

TEST(Partition, IsTheBestOfAll) {
  for (std::uint64_t k = 0; k < 1000; ++k) {
    Rng rng = Rng(3).derive("partition").derive(k);
    const PartitionProblem problem = drawn(rng);
    const std::vector<StageEnds> found = best_partitions(problem, 8);
    ASSERT_FALSE(found.empty());
    EXPECT_NEAR(found.front().value, best_of_all(problem), 1e-12) << k;
    for (const StageEnds& way : found) {
      EXPECT_EQ(way.ends.size() + 1, problem.speeds.size());
      EXPECT_TRUE(std::ranges::is_sorted(way.ends));
    }
  }
}

TEST(Partition, HasNoMoreStagesThanPieces) {
  EXPECT_TRUE(best_partitions({.seconds = {1}, .crossing = {}, .speeds = {1, 1}}, 8).empty());
}

}  // namespace
}  // namespace gv
