#include <cmath>

#include <gtest/gtest.h>

#include "graph/predict/transient.h"
#include "graph/schedules.h"
#include "graph/topologies.h"
#include "peer/study/predict/forecast/mixing_law.h"

namespace gv {
namespace {

constexpr PeerId n = 16;

GraphCandidate candidate(const char* text) {
  GraphCandidate c;
  c.spec = parse_schedule(text);
  c.name = text;
  c.rate = schedule_rate(*make_schedule(c.spec, n));
  return c;
}

/// Section 4's table: the losses of a ring and a torus in the order lian, without spread.
TEST(GraphScore, IsThePredictorsLoss) {
  const GraphGoal goal{.fleet = QuadraticFleet{.hessian = {1, 0.5, 0.25, 0.1}},
                       .target = std::nullopt};
  EXPECT_NEAR(score_of(candidate("ring"), n, goal), 0.02163, 6e-6);
  EXPECT_NEAR(score_of(candidate("torus:4x4"), n, goal), 0.01671, 6e-6);
  EXPECT_EQ(goal.measure(), "excess_loss_local");
}

TEST(GraphScore, WithoutAFleetIsTheRoundsOfAveraging) {
  EXPECT_EQ(score_of(candidate("ring"), n, {}), 133);
  EXPECT_EQ(GraphGoal{}.measure(), "rounds_to_thousandth");
}

TEST(GraphScore, CountsTheRoundsToATarget) {
  const QuadraticFleet fleet{.hessian = {1}, .spread = 1};
  const GraphGoal goal{.fleet = fleet, .target = 0.1, .start = 3};
  const double rounds = score_of(candidate("torus:4x4"), n, goal);
  const TopologySpec spec = parse_topology("torus:4x4");
  const Modes modes = modes_of(metropolis(build(spec, n)), &spec);
  const auto loss = [&](double t) {
    return predict_after(modes, fleet, 3, static_cast<std::uint64_t>(t)).excess_local.value;
  };
  EXPECT_LE(loss(rounds), 0.1);
  EXPECT_GT(loss(rounds - 1), 0.1);
  const GraphGoal never{.fleet = fleet, .target = 1e-6, .start = 3};
  EXPECT_TRUE(std::isinf(score_of(candidate("ring"), n, never)));
}

TEST(GraphScore, InfiniteWhereItDivergesOrNothingIsKnown) {
  const GraphGoal fast{.fleet = QuadraticFleet{.rate = 0.7}, .target = std::nullopt};
  EXPECT_TRUE(std::isinf(score_of(candidate("ring"), n, fast)));
  const GraphGoal goal{.fleet = QuadraticFleet{}, .target = std::nullopt};
  const GraphGoal unknown{.fleet = QuadraticFleet{.order = "d2"}, .target = std::nullopt};
  EXPECT_TRUE(std::isinf(score_of(candidate("base:k=1"), n, unknown)));
  const GraphGoal target{.fleet = QuadraticFleet{}, .target = 0.1};
  for (const char* schedule : {"one-peer-exponential", "random-matching", "base:k=1"}) {
    EXPECT_TRUE(std::isfinite(score_of(candidate(schedule), n, goal))) << schedule;
    EXPECT_GT(score_of(candidate(schedule), n, target), 1) << schedule;
  }
}

/// A directed graph, which the method refuses, was once second, and the torus was infinite.
TEST(GraphScore, RanksTrackingOnGraphsThatItRunsOn) {
  const GraphGoal goal{
      .fleet =
          QuadraticFleet{
              .hessian = {1, 0.1}, .spread = 1, .rate = 0.2, .order = "gradient-tracking"},
      .target = std::nullopt};
  const auto score = [&](const char* graph) { return score_of(candidate(graph), n, goal); };
  EXPECT_LT(score("hypercube"), score("ring"));
  EXPECT_LT(score("torus:4x4"), score("ring"));
  EXPECT_LT(score("ring"), score("binary-tree"));
  EXPECT_TRUE(std::isinf(score("exponential")));
}

/// The score is infinite if `algorithm: d2` refuses W, at every rate and for each Hessian.
TEST(GraphScore, RanksNoGraphThatD2Refuses) {
  const GraphGoal goal{.fleet = QuadraticFleet{.hessian = {1}, .rate = 1, .order = "d2"},
                       .target = std::nullopt};
  EXPECT_TRUE(std::isinf(score_of(candidate("torus:4x4"), n, goal)));
  GraphCandidate lazy = candidate("torus:4x4");
  lazy.spec.weights = "lazy";
  EXPECT_TRUE(std::isfinite(score_of(lazy, n, goal)));
}

TEST(GraphScore, TheReasonNamesTheNextAndTheGap) {
  GraphCandidate star = candidate("star");
  GraphCandidate ring = candidate("ring");
  const GraphGoal goal{.fleet = QuadraticFleet{.hessian = {1, 0.5, 0.25, 0.1}},
                       .target = std::nullopt};
  star.score = score_of(star, n, goal);
  ring.score = score_of(ring, n, goal);
  // A star has the larger gap, but also larger losses.
  EXPECT_EQ(reason_of({ring, star}, goal),
            "ring: local models settle at an excess loss of 0.02163; next star: 0.0416; the "
            "largest gap here is that of star");
  ring.score = std::numeric_limits<double>::infinity();
  EXPECT_EQ(reason_of({ring}, goal), "none: on each of these the fleet diverges");
}

}  // namespace
}  // namespace gv
