#include <cmath>

#include <gtest/gtest.h>

#include "tests/peer/sim/drawn_quadratic.h"

// ProxSkip over a graph: the recursion of Guo et al. 2023, arXiv:2310.07983, in double precision.

namespace gv {
namespace {

using Rows = DrawnQuadratic::Rows;

/// z = x - gamma g - y in every step. If the coin decides so, x = W_a z and y <- y + p (z - x).
struct Iterate {
  Rows x, y, z;
};

void step(const DrawnQuadratic& q, Iterate& at) {
  at.z = q.sum(1, q.sum(1, at.x, -q.gamma, q.gradient(at.x)), -1, at.y);
  at.x = at.z;
}

void exchange(const DrawnQuadratic& q, double p, double c, Iterate& at) {
  at.x = q.sum(1 - c, at.z, c, q.mixed(at.z));
  at.y = q.sum(1, at.y, p, q.sum(1, at.z, -1, at.x));
}

double apart(const Rows& a, const Rows& b) {
  double most = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    for (std::size_t k = 0; k < a[i].size(); ++k)
      most = std::max(most, std::abs(a[i][k] - b[i][k]));
  return most;
}

/// The recursion must agree with the method after some number of steps in each round. The test does
/// not fix this number, but checks its distribution: a share p is 1, and the mean is 1 / p.
TEST(ProxSkip, IsItsPapersRecursionWithACoinForAll) {
  double steps = 0;
  double rounds = 0;
  double ones = 0;
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    SCOPED_TRACE(seed);
    DrawnQuadratic drawn("proxskip", seed);
    const double c = 0.3 + 0.05 * static_cast<double>(seed % 5);
    drawn.fleet.settings = {{"c", c}};
    drawn.fleet.local_steps = 4;
    Iterate at{drawn.start, drawn.nothing(), drawn.start};
    for (Round round = 1; round <= 15; ++round) {
      const Rows x = drawn.run(round);
      int taken = 0;
      for (Iterate next = at; taken < 60; next = at) {
        step(drawn, at);
        ++taken;
        next = at;
        exchange(drawn, 0.25, c, next);
        if (apart(next.x, x) < 2e-5) {
          at = next;
          break;
        }
      }
      ASSERT_LT(taken, 60) << "round " << round;
      steps += taken;
      ++rounds;
      ones += taken == 1 ? 1 : 0;
    }
  }
  EXPECT_NEAR(steps / rounds, 4, 1);
  EXPECT_NEAR(ones / rounds, 0.25, 0.1);
}

TEST(ProxSkip, ThatAlwaysExchangesIsLedOfOneStep) {
  Fleet fleet = restless(8, "proxskip");
  fleet.weights = "lazy";
  fleet.settings = {{"c", 1}};
  const std::string hash = run(fleet).hash;
  fleet.algorithm = "led";
  fleet.settings = {};
  EXPECT_EQ(run(fleet).hash, hash);
}

TEST(ProxSkip, LeavesNoBias) {
  Fleet fleet = quadratic_fleet(8, "ring", "proxskip", "");
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
    for (const Values& x : result.x) EXPECT_NEAR(x[k], optimum, 1e-4);
    for (const Values& x : plain.x) bias = std::max(bias, std::abs(x[k] - optimum));
  }
  EXPECT_GT(bias, 0.1);
}

TEST(ProxSkip, RefusesWhatItCannotCorrect) {
  Fleet fleet = quadratic_fleet(8, "ring", "proxskip", "");
  fleet.local_steps = 4;
  EXPECT_EQ(refusal(fleet), "");
  Fleet uneven = fleet;
  uneven.own_steps = {1, 2, 3, 4, 1, 2, 3, 4};
  EXPECT_NE(refusal(uneven).find("how many steps all peers take"), std::string::npos);
  Fleet whole = fleet;
  whole.settings = {{"c", 1}};
  EXPECT_NE(refusal(whole).find("least eigenvalue is -0.333"), std::string::npos) << refusal(whole);
  fleet.optimizer.kind = "adam";
  EXPECT_NE(refusal(fleet).find("kind: sgd"), std::string::npos);
  EXPECT_NE(refusal(quadratic_fleet(8, "exponential", "proxskip", "")).find("directed"),
            std::string::npos);
  EXPECT_NE(refusal(quadratic_fleet(8, "random-matching", "proxskip", "")).find("another one in"),
            std::string::npos);
}

TEST(ProxSkip, ResumesWithTheSameCoins) {
  Fleet fleet = restless(6, "proxskip");
  fleet.local_steps = 3;
  expect_it_resumes(fleet);
}

}  // namespace
}  // namespace gv
