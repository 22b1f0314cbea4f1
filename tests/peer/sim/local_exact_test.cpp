#include <cmath>

#include <gtest/gtest.h>

#include "tests/peer/sim/four_peers.h"
#include "tests/peer/sim/slow_peer.h"

// LED and K-GT, which correct local steps, and DecentLaM, compared with their papers' recursions in
// double precision.

namespace gv {
namespace {

using LocalAveraging = Values (*)(const Values&);

/// Alghunaim 2024, LED, with the paper's y and its beta of one step.
Values led(LocalAveraging w, int tau, double beta, int rounds) {
  Values x = begin;
  Values y(4, 0);
  for (int r = 0; r < rounds; ++r) {
    Values phi = x;
    for (int t = 0; t < tau; ++t)
      for (std::size_t i = 0; i < 4; ++i) phi[i] -= gamma * (phi[i] - centers[i]) + beta * y[i];
    x = w(phi);
    for (std::size_t i = 0; i < 4; ++i) y[i] += phi[i] - x[i];
  }
  return x;
}

TEST(Led, IsItsPapersRecursion) {
  for (const int tau : {1, 4}) {
    for (const double beta : {1.0, 0.6}) {
      Fleet fleet = four("ring", "led", {{"beta", beta}});
      fleet.weights = "lazy";
      fleet.local_steps = static_cast<std::uint32_t>(tau);
      fleet.stop.rounds = 20;
      expect_near(first_coordinates(run(fleet, begin)), led(lazy_ring_mean, tau, beta / tau, 20),
                  1e-5);
    }
  }
}

TEST(Led, OfOneStepIsD2ToTheBit) {
  Fleet fleet = restless(8, "led");
  fleet.weights = "lazy";
  const std::string hash = run(fleet).hash;
  fleet.algorithm = "d2";
  EXPECT_EQ(run(fleet).hash, hash);
}

/// Liu et al. 2023, Algorithm 1.
Values k_gt(LocalAveraging w, int steps, double eta_s, int rounds) {
  Values x = begin;
  Values c(4, 0);
  for (int t = 0; t < rounds; ++t) {
    Values own = x;
    for (int k = 0; k < steps; ++k)
      for (std::size_t i = 0; i < 4; ++i) own[i] -= gamma * (own[i] - centers[i] + c[i]);
    Values z(4);
    Values gone(4);
    for (std::size_t i = 0; i < 4; ++i) {
      z[i] = (x[i] - own[i]) / (steps * gamma);
      gone[i] = x[i] - steps * eta_s * gamma * z[i];
    }
    const Values mean = w(z);
    for (std::size_t i = 0; i < 4; ++i) c[i] += mean[i] - z[i];
    x = w(gone);
  }
  return x;
}

TEST(KGt, IsItsPapersRecursion) {
  for (const int steps : {1, 4}) {
    for (const double eta_s : {1.0, 0.5, 1.3}) {
      Fleet fleet = four("ring", "k-gt", {{"eta_s", eta_s}});
      fleet.local_steps = static_cast<std::uint32_t>(steps);
      fleet.stop.rounds = 20;
      expect_near(first_coordinates(run(fleet, begin)), k_gt(ring_mean, steps, eta_s, 20), 1e-5);
    }
  }
}

TEST(KGt, OfOneStepIsGradientTracking) {
  Fleet fleet = restless(8, "k-gt");
  fleet.data.quadratic.noise = 0;
  const Result k_gt = run(fleet);
  fleet.algorithm = "gradient-tracking";
  expect_near(run(fleet), k_gt, 1e-4);
}

/// For peers with different numbers of steps, z is the mean over each peer's own steps, and all end
/// at the common optimum.
TEST(KGt, CorrectsUnequalNumbersOfSteps) {
  Fleet fleet = four("ring", "k-gt");
  fleet.local_steps = 3;
  fleet.own_steps = {7, 2, 2, 1};
  fleet.stop.rounds = 400;
  for (const double x : first_coordinates(run(fleet, begin))) EXPECT_NEAR(x, 0, 1e-4);
}

/// Many steps alone pull a peer of D-PSGD to the optimum of its own data.
TEST(LocalExactMethods, LeaveNoBias) {
  for (const char* algorithm : {"led", "k-gt"}) {
    Fleet fleet = quadratic_fleet(8, "ring", algorithm, "");
    fleet.weights = "lazy";
    fleet.data.quadratic = {
        .dimension = 8, .hessian = {1, 0.5}, .noise = 0, .spread = 1, .start = 0.5, .centers = {}};
    fleet.local_steps = 5;
    fleet.optimizer.lr = 0.05;
    fleet.stop.rounds = 1500;
    const Result result = run(fleet);
    fleet.algorithm = "d-psgd";
    const Result plain = run(fleet);
    double bias = 0;
    for (std::size_t k = 0; k < 8; ++k) {
      double optimum = 0;
      for (const Values& x : result.x) optimum += x[k] / 8;
      for (const Values& x : result.x) EXPECT_NEAR(x[k], optimum, 1e-4) << algorithm;
      for (const Values& x : plain.x) bias = std::max(bias, std::abs(x[k] - optimum));
    }
    EXPECT_GT(bias, 0.1);
  }
}

TEST(LocalExactMethods, RefuseWhatTheyCannotCorrect) {
  for (const char* algorithm : {"led", "k-gt"}) {
    Fleet fleet = quadratic_fleet(8, "ring", algorithm, "");
    fleet.weights = "lazy";
    EXPECT_EQ(refusal(fleet), "") << algorithm;
    fleet.optimizer.kind = "adamw";
    EXPECT_NE(refusal(fleet).find("kind: sgd"), std::string::npos) << algorithm;
    EXPECT_NE(refusal(quadratic_fleet(8, "exponential", algorithm, "")).find("directed"),
              std::string::npos);
  }
  EXPECT_NE(refusal(quadratic_fleet(16, "hypercube", "led", "")).find("lambda_n = -0.6"),
            std::string::npos);
  EXPECT_EQ(refusal(quadratic_fleet(16, "hypercube", "k-gt", "")), "");
  EXPECT_NE(refusal(quadratic_fleet(8, "random-matching", "led", "")).find("another one in"),
            std::string::npos);
  EXPECT_EQ(refusal(quadratic_fleet(8, "random-matching", "k-gt", "")), "");
}

/// Yuan et al. 2021, Algorithm 2, unchanged.
TEST(DecentLam, IsItsPapersRecursion) {
  const double beta = 0.8;
  Values x = begin;
  Values m(4, 0);
  for (int t = 0; t < 15; ++t) {
    const Values mean = ring_mean(step(x));
    for (std::size_t i = 0; i < 4; ++i) {
      m[i] = beta * m[i] + (x[i] - mean[i]) / gamma;
      x[i] -= gamma * m[i];
    }
  }
  Fleet fleet = four("ring", "decentlam", {{"beta", beta}});
  fleet.stop.rounds = 15;
  expect_near(first_coordinates(run(fleet, begin)), x, 1e-5);
}

TEST(DecentLam, WithoutMomentumIsDPsgdToTheBit) {
  Fleet fleet = restless(8, "decentlam");
  fleet.settings = {{"beta", 0}};
  const std::string hash = run(fleet).hash;
  fleet.algorithm = "d-psgd";
  fleet.order = "atc";
  EXPECT_EQ(run(fleet).hash, hash);
}

/// Its bias is that of D-PSGD without momentum. Momentum inside D-PSGD makes the bias larger, which
/// is the point of the paper.
TEST(DecentLam, DoesNotAmplifyTheBias) {
  const auto bias = [](const std::string& algorithm, double momentum) {
    Fleet fleet = quadratic_fleet(8, "ring", algorithm, algorithm == "d-psgd" ? "atc" : "");
    fleet.data.quadratic = {
        .dimension = 8, .hessian = {1}, .noise = 0, .spread = 1, .start = 0.5, .centers = {}};
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
  };
  const double plain = bias("d-psgd", 0);
  EXPECT_NEAR(bias("decentlam", 0), plain, 0.02 * plain);
  EXPECT_GT(bias("d-psgd", 0.9), 3 * plain);
}

/// A flow acts ten times. With late flows models once swung apart by ten powers of ten.
TEST(DecentLam, KeepsNoMomentumOfLateFlows) {
  for (const double beta : {0.5, 0.9, 0.95})
    for (const auto& [n, graph] : {std::pair<PeerId, std::string>{4, "complete"},
                                   {8, "complete"},
                                   {8, "king-torus"},
                                   {8, "ring"},
                                   {9, "star"}}) {
      Fleet fleet = beside_a_slow_peer(n, graph, "decentlam");
      fleet.settings = {{"beta", beta}};
      EXPECT_LT(largest_coordinate(fleet), 5) << n << ' ' << graph << ' ' << beta;
    }
}

TEST(DecentLam, RefusesEdgesOfOneWayGraphsThatChangeAndOtherMomentum) {
  EXPECT_NE(refusal(quadratic_fleet(8, "exponential", "decentlam", "")).find("directed"),
            std::string::npos);
  for (const char* graph : {"base:k=1", "random-matching", "matcha:graph=complete"})
    EXPECT_NE(
        refusal(quadratic_fleet(8, graph, "decentlam", "")).find("another one in every round"),
        std::string::npos)
        << graph;
  Fleet fleet = quadratic_fleet(8, "ring", "decentlam", "");
  EXPECT_EQ(refusal(fleet), "");
  fleet.optimizer.momentum = 0.5;
  EXPECT_NE(refusal(fleet).find("its own momentum"), std::string::npos);
}

}  // namespace
}  // namespace gv
