#include <gtest/gtest.h>

#include "tests/peer/sim/drawn_quadratic.h"

// Aug-DGM and Momentum Tracking, compared with their papers' recursions in double precision on
// drawn graphs.

namespace gv {
namespace {

using Rows = DrawnQuadratic::Rows;

/// Xu et al. 2015: x <- W (x - gamma y), y <- W (y + g - g before).
Rows aug_dgm(const DrawnQuadratic& q, int rounds) {
  Rows x = q.start;
  Rows g = q.gradient(x);
  Rows y = g;
  for (int t = 0; t < rounds; ++t) {
    x = q.mixed(q.sum(1, x, -q.gamma, y));
    const Rows next = q.gradient(x);
    y = q.mixed(q.sum(1, y, 1, q.sum(1, next, -1, g)));
    g = next;
  }
  return x;
}

TEST(AugDgm, IsItsPapersRecursion) {
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    SCOPED_TRACE(seed);
    const DrawnQuadratic drawn("aug-dgm", seed);
    expect_near(drawn.run(25), aug_dgm(drawn, 25), 1e-4);
  }
}

/// Takezawa et al. 2023, Algorithm 1, with its u and c.
Rows momentum_tracking(const DrawnQuadratic& q, double beta, int rounds) {
  Rows x = q.start;
  Rows u = q.nothing();
  Rows c = u;
  for (int t = 0; t < rounds; ++t) {
    u = q.sum(beta, u, 1, q.gradient(x));
    const Rows along = q.sum(1, u, -1, c);
    x = q.mixed(q.sum(1, x, -q.gamma, along));
    c = q.sum(1, u, -1, q.mixed(along));
  }
  return x;
}

TEST(MomentumTracking, IsItsPapersRecursion) {
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    SCOPED_TRACE(seed);
    DrawnQuadratic drawn("momentum-tracking", seed);
    const double beta = 0.1 * static_cast<double>(seed % 10);
    drawn.fleet.settings = {{"beta", beta}};
    expect_near(drawn.run(25), momentum_tracking(drawn, beta, 25), 1e-4);
  }
}

TEST(MomentumTracking, WithoutMomentumIsGradientTrackingToTheBit) {
  Fleet fleet = restless(8, "momentum-tracking");
  fleet.settings = {{"beta", 0}};
  const std::string hash = run(fleet).hash;
  fleet.algorithm = "gradient-tracking";
  EXPECT_EQ(run(fleet).hash, hash);
}

/// Returns the distance of peers with different data from the optimum of all.
double tracking_bias(const std::string& algorithm, double momentum) {
  Fleet fleet = quadratic_fleet(8, "ring", algorithm, "");
  fleet.data.quadratic = {
      .dimension = 8, .hessian = {1, 0.5}, .noise = 0, .spread = 1, .start = 0.5, .centers = {}};
  fleet.optimizer.lr = 0.02;
  fleet.optimizer.momentum = momentum;
  fleet.stop.rounds = 2500;
  const Result result = run(fleet);
  double largest = 0;
  for (std::size_t k = 0; k < 8; ++k) {
    double optimum = 0;
    for (const Values& x : result.x) optimum += x[k] / 8;
    for (const Values& x : result.x) largest = std::max(largest, std::abs(x[k] - optimum));
  }
  return largest;
}

TEST(TrackingMethods, LeaveNoBias) {
  EXPECT_LT(tracking_bias("aug-dgm", 0), 1e-5);
  EXPECT_LT(tracking_bias("momentum-tracking", 0), 1e-5);
  EXPECT_GT(tracking_bias("d-psgd", 0.9), 0.05);
}

/// Its second exchange does not overlap the first. A round waits for the network twice, and sends
/// as much as gradient tracking.
TEST(AugDgm, TakesTwoExchangesInTimeAndNoByteMore) {
  const auto round_of = [](const char* algorithm) {
    Fleet fleet = quadratic_fleet(6, "ring", algorithm, "");
    fleet.data.quadratic.dimension = 5000;
    fleet.network.latency = std::chrono::milliseconds(20);
    fleet.stop.rounds = 10;
    const Assembly assembly(fleet);
    Observer observer(assembly.fleet.size(), assembly.evaluator(), {});
    const SimulationResult result = simulate(assembly, observer, {});
    std::uint64_t bytes = 0;
    for (const auto& [peer, report] : observer.finals()) bytes += report.costs.model_bytes;
    return std::pair{observer.summary()->time / std::chrono::milliseconds(1) / 10, bytes};
  };
  const auto [plain, plain_bytes] = round_of("gradient-tracking");
  const auto [twice, twice_bytes] = round_of("aug-dgm");
  EXPECT_NEAR(static_cast<double>(plain), 20, 2);
  EXPECT_NEAR(static_cast<double>(twice), 40, 4);
  EXPECT_EQ(twice_bytes, plain_bytes);
}

TEST(TrackingMethods, RefuseWhatTheyCannotTrack) {
  for (const char* algorithm : {"aug-dgm", "momentum-tracking"}) {
    Fleet fleet = quadratic_fleet(8, "ring", algorithm, "");
    EXPECT_EQ(refusal(fleet), "") << algorithm;
    fleet.local_steps = 2;
    EXPECT_NE(refusal(fleet).find("local_steps must be 1"), std::string::npos) << algorithm;
    EXPECT_NE(refusal(quadratic_fleet(8, "exponential", algorithm, "")).find("directed"),
              std::string::npos);
  }
  EXPECT_EQ(refusal(quadratic_fleet(8, "random-matching", "momentum-tracking", "")), "");
  EXPECT_NE(refusal(quadratic_fleet(8, "random-matching", "aug-dgm", "")).find("fixed topology"),
            std::string::npos);
  Fleet heavy = quadratic_fleet(8, "ring", "momentum-tracking", "");
  heavy.optimizer.momentum = 0.5;
  EXPECT_NE(refusal(heavy).find("its own momentum"), std::string::npos);
}

}  // namespace
}  // namespace gv
