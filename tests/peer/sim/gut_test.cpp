#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "tests/peer/sim/drawn_quadratic.h"

// Global update tracking, compared with its authors' recursion of directions in double precision on
// drawn graphs. The method itself uses only flows.

namespace gv {
namespace {

using Rows = DrawnQuadratic::Rows;

/// Aketi et al. 2023, as in their trainer. No peer has moved before the start.
Rows gut(const DrawnQuadratic& q, double mu, int rounds) {
  Rows x = q.start;
  Rows before = x;
  Rows delta = q.nothing();
  for (int t = 0; t < rounds; ++t) {
    const Rows z = q.mixed(x);
    const Rows apart = q.sum(1, z, -1, x);
    const Rows last = delta;
    delta = q.sum(1, q.gradient(z), -1 / q.gamma, apart);
    // The neighbours' moves, and their earlier distances.
    const Rows moves = q.mixed(q.sum(1, x, -1, before));
    const Rows tracked = q.sum(1, moves, 1, q.sum(1, q.mixed(before), -1, before));
    const Rows y = q.sum(1, delta, mu, q.sum(-1 / q.gamma, tracked, -1, last));
    before = x;
    x = q.sum(1, x, -q.gamma, y);
  }
  return x;
}

/// Every second fleet has weights with negative eigenvalues.
TEST(Gut, IsItsAuthorsRecursion) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE(seed);
    const bool lazy = seed % 2 == 0;
    DrawnQuadratic drawn("gut", seed, lazy ? "lazy" : "metropolis");
    const double mu = (lazy ? 0.9 : 0.6) * Rng(seed).derive("mu").uniform();
    drawn.fleet.settings = {{"mu", mu}};
    expect_near(drawn.run(25), gut(drawn, mu, 25), 1e-4);
  }
}

TEST(Gut, ThatTracksNothingIsDPsgd) {
  Fleet fleet = restless(8, "gut");
  fleet.settings = {{"mu", 0}};
  const Result nothing = run(fleet);
  fleet.algorithm = "d-psgd";
  fleet.order = "cta";
  fleet.settings = {};
  expect_near(run(fleet), nothing, 1e-4);
}

TEST(Gut, ResumesWithItsFlows) {
  Fleet fleet = restless(5, "gut");
  expect_it_resumes(fleet);
  fleet.codec = Codec{.kind = Codec::Kind::int8};
  expect_it_resumes(fleet);
}

/// Returns the final distance of peers with different data from their mean.
double spread_at_rest(const std::string& algorithm, const Settings& settings) {
  Fleet fleet = quadratic_fleet(8, "ring", algorithm, algorithm == "d-psgd" ? "cta" : "");
  fleet.data.quadratic = {
      .dimension = 8, .hessian = {1}, .noise = 0, .spread = 1, .start = 0.5, .centers = {}};
  fleet.optimizer.lr = 0.002;
  fleet.settings = settings;
  fleet.stop.rounds = 6000;
  const Result result = run(fleet);
  double squares = 0;
  for (std::size_t k = 0; k < 8; ++k) {
    double mean = 0;
    for (const Values& x : result.x) mean += x[k] / 8;
    for (const Values& x : result.x) squares += std::pow(x[k] - mean, 2);
  }
  return std::sqrt(squares);
}

TEST(Gut, LeavesSoMuchLessOfTheBias) {
  const double plain = spread_at_rest("d-psgd", {});
  EXPECT_GT(plain, 0.005);
  for (const double mu : {0.3, 0.6, 0.9})
    EXPECT_NEAR(spread_at_rest("gut", {{"mu", mu}}) / plain, 1 - mu, 0.03) << mu;
}

TEST(Gut, RefusesWhatItCannotTrack) {
  Fleet fleet = quadratic_fleet(8, "ring", "gut", "");
  EXPECT_EQ(refusal(fleet), "");
  fleet.local_steps = 2;
  EXPECT_NE(refusal(fleet).find("corrects every gradient"), std::string::npos);
  fleet.local_steps = 1;
  fleet.optimizer.kind = "adam";
  EXPECT_NE(refusal(fleet).find("kind: sgd"), std::string::npos);
  EXPECT_NE(refusal(quadratic_fleet(8, "exponential", "gut", "")).find("directed"),
            std::string::npos);
  EXPECT_NE(refusal(quadratic_fleet(8, "random-matching", "gut", "")).find("another one in"),
            std::string::npos);
}

/// Returns the result of the authors' recursion for one mode of W without gradients.
double mode(double lambda, double mu) {
  double x = 1;
  double before = 1;
  double delta = 0;
  for (int t = 0; t < 3000; ++t) {
    const double last = delta;
    delta = x - lambda * x;
    const double tracked = lambda * (x - before) + (lambda - 1) * before;
    before = x;
    x -= delta + mu * (-tracked - last);
  }
  return std::abs(x);
}

TEST(Gut, IsRefusedWhereAModeGrows) {
  for (const auto& [mu, grows] : {std::pair{0.33, false}, {0.34, true}}) {
    Fleet fleet = quadratic_fleet(16, "hypercube", "gut", "");  // lambda_n = -0.6
    fleet.settings = {{"mu", mu}};
    const std::string why = refusal(fleet);
    EXPECT_EQ(why.find("lambda_n = -0.6: take `weights: lazy`") != std::string::npos, grows) << why;
    EXPECT_EQ(mode(-0.6, mu) > 1, grows) << mu;
  }
}

}  // namespace
}  // namespace gv
