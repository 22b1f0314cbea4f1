#include <cmath>

#include <gtest/gtest.h>

#include "tests/peer/sim/four_peers.h"

// EXTRA and NIDS, each compared with the two-step recursion of its paper in double precision. The
// methods themselves keep sums of flows.

namespace gv {
namespace {

using Averaging = Values (*)(const Values&);

Values gradient(const Values& x) {
  Values g(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) g[i] = x[i] - centers[i];
  return g;
}

/// Metropolis-Hastings on a star of four with centre 0: each edge has the weight 1/4.
Values star_mean(const Values& v) {
  Values y = v;
  for (std::size_t i = 1; i < 4; ++i) {
    y[0] += (v[i] - v[0]) / 4;
    y[i] += (v[0] - v[i]) / 4;
  }
  return y;
}

/// Shi et al. 2015, Algorithm 1, with W~ = (I + W) / 2.
Values extra(Averaging w, int rounds) {
  Values before = begin;
  Values x = w(begin);
  for (std::size_t i = 0; i < 4; ++i) x[i] -= gamma * gradient(begin)[i];
  for (int t = 1; t < rounds; ++t) {
    const Values wx = w(x);
    const Values w_before = w(before);
    Values next(4);
    for (std::size_t i = 0; i < 4; ++i)
      next[i] = x[i] + wx[i] - (before[i] + w_before[i]) / 2 -
                gamma * (gradient(x)[i] - gradient(before)[i]);
    before = x;
    x = next;
  }
  return x;
}

/// Li et al. 2019, Algorithm 1, after `exchanges` exchanges. The first step has none.
Values nids(Averaging w, double c, int exchanges) {
  Values before = begin;
  Values x = step(begin);
  for (int t = 0; t < exchanges; ++t) {
    Values v(4);
    for (std::size_t i = 0; i < 4; ++i)
      v[i] = 2 * x[i] - before[i] - gamma * (gradient(x)[i] - gradient(before)[i]);
    const Values wv = w(v);
    before = x;
    for (std::size_t i = 0; i < 4; ++i) x[i] = v[i] - c * (v[i] - wv[i]);
  }
  return x;
}

TEST(Extra, IsItsPapersRecursion) {
  for (const auto& [graph, w] : {std::pair{"ring", &ring_mean}, {"star", &star_mean}}) {
    for (const int rounds : {1, 2, 30}) {
      Fleet fleet = four(graph, "extra");
      fleet.stop.rounds = static_cast<Round>(rounds);
      expect_near(first_coordinates(run(fleet, begin)), extra(w, rounds), 1e-5);
    }
  }
}

/// Three rounds on a ring of four, in exact fractions with the full matrices W and W~.
TEST(Extra, HasItsVector) {
  const Values ring{64363.0 / 27000, 2309.0 / 1000, 12883.0 / 9000, 1259.0 / 1080};
  expect_near(first_coordinates(run(four("ring", "extra"), begin)), ring, 1e-6);
}

TEST(Nids, IsItsPapersRecursion) {
  for (const auto& [graph, w] : {std::pair{"ring", &ring_mean}, {"star", &star_mean}}) {
    for (const double c : {0.5, 0.8}) {
      Fleet fleet = four(graph, "nids", {{"c", c}});
      fleet.stop.rounds = 30;
      expect_near(first_coordinates(run(fleet, begin)), nids(w, c, 30), 1e-5);
    }
  }
}

/// The first step and three rounds, in exact fractions.
TEST(Nids, HasItsVector) {
  const Values ring{18537.0 / 10000, 118883.0 / 67500, 3141.0 / 2000, 92851.0 / 67500};
  expect_near(first_coordinates(run(four("ring", "nids"), begin)), ring, 1e-6);
}

TEST(Nids, IsD2OnTheLazyGraphBehindItsFirstStep) {
  Fleet fleet = four("ring", "d2");
  fleet.weights = "lazy";
  fleet.stop.rounds = 20;
  const Values d2 = first_coordinates(run(fleet, step(begin)));
  fleet.algorithm = "nids";
  fleet.weights = "metropolis";
  expect_near(first_coordinates(run(fleet, begin)), d2, 1e-6);
}

/// Neither method has a bias, although D-PSGD has one here and D2 is refused: lambda_n is -0.6.
TEST(ExactMethods, LeaveNoBiasOnGraphsThatD2Refuses) {
  for (const char* algorithm : {"extra", "nids"}) {
    Fleet fleet = quadratic_fleet(16, "hypercube", algorithm, "");
    fleet.data.quadratic = {
        .dimension = 8, .hessian = {1, 0.5}, .noise = 0, .spread = 1, .start = 0.5, .centers = {}};
    fleet.stop.rounds = 1500;
    const Result result = run(fleet);
    for (std::size_t k = 0; k < 8; ++k) {
      double optimum = 0;
      for (const Values& x : result.x) optimum += x[k] / 16;
      for (const Values& x : result.x) EXPECT_NEAR(x[k], optimum, 1e-5) << algorithm;
    }
    fleet.algorithm = "d2";
    EXPECT_NE(refusal(fleet).find("lambda_n = -0.6"), std::string::npos);
  }
}

double largest(const Fleet& fleet) {
  double largest = 0;
  for (const Values& x : run(fleet).x)
    for (const double value : x) largest = std::max(largest, std::abs(value));
  return largest;
}

/// lambda_n of a ring of 16 is -1/3 and L is 1. EXTRA is stable below (5 + 3 lambda_n) / 4 = 1, and
/// NIDS below 2 on each graph.
TEST(ExactMethods, AreStableUpToTheRatesOfTheirTheory) {
  Fleet fleet = quadratic_fleet(16, "ring", "extra", "");
  fleet.data.quadratic = {
      .dimension = 4, .hessian = {1}, .noise = 0, .spread = 1, .start = 0.5, .centers = {}};
  fleet.stop.rounds = 800;
  fleet.optimizer.lr = 0.97;
  EXPECT_LT(largest(fleet), 10);
  fleet.optimizer.lr = 1.03;
  EXPECT_GT(largest(fleet), 1e3);
  fleet.algorithm = "nids";
  EXPECT_LT(largest(fleet), 10);
  fleet.optimizer.lr = 1.97;
  EXPECT_LT(largest(fleet), 10);
  fleet.optimizer.lr = 2.03;
  EXPECT_GT(largest(fleet), 1e3);
}

TEST(ExactMethods, RefuseWhatTheyCannotCorrect) {
  for (const std::string algorithm : {"extra", "nids"}) {
    EXPECT_EQ(refusal(quadratic_fleet(16, "hypercube", algorithm, "")), "");
    EXPECT_NE(refusal(quadratic_fleet(8, "random-matching", algorithm, "")).find("another one in"),
              std::string::npos);
    EXPECT_NE(refusal(quadratic_fleet(8, "exponential", algorithm, "")).find("directed"),
              std::string::npos);
    Fleet fleet = quadratic_fleet(8, "ring", algorithm, "");
    fleet.local_steps = 2;
    EXPECT_NE(refusal(fleet).find("train.local_steps must be 1"), std::string::npos);
    fleet.local_steps = 1;
    for (const char* kind : {"adam", "adamw"}) {
      fleet.optimizer.kind = kind;
      EXPECT_NE(refusal(fleet).find("steps of its own size"), std::string::npos) << kind;
    }
  }
  Fleet cube = quadratic_fleet(16, "hypercube", "nids", "");
  cube.settings = {{"c", 1}};
  EXPECT_NE(refusal(cube).find("here it is -0.6: take `c: 0.5`"), std::string::npos);
}

}  // namespace
}  // namespace gv
