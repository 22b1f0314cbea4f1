#include <cmath>

#include <gtest/gtest.h>

#include "tests/peer/fleet/local_step_rows.h"
#include "tests/peer/sim/four_peers.h"

// Every method of the registry, compared with its paper's recursion in double precision.

namespace gv {
namespace {

TEST(D2, HasThePublishedVectors) {
  Fleet fleet = four("ring", "d2");
  fleet.weights = "lazy";
  const Values on_ring{2.059666666667, 1.966962962963, 1.745, 1.518370370370};
  expect_near(first_coordinates(run(fleet, begin)), on_ring, 1e-6);
  const Values on_star{1.8225, 1.971, 1.8225, 1.674};
  expect_near(first_coordinates(run(four("star", "d2"), begin)), on_star, 1e-6);
}

TEST(D2, IsItsPapersRecursion) {
  const auto gradient = [](const Values& x, std::size_t i) { return x[i] - centers[i]; };
  Values before = begin;
  Values x = lazy_ring_mean(step(begin));
  for (int t = 1; t < 30; ++t) {
    Values v(4);
    for (std::size_t i = 0; i < 4; ++i)
      v[i] = 2 * x[i] - before[i] - gamma * (gradient(x, i) - gradient(before, i));
    before = x;
    x = lazy_ring_mean(v);
  }
  Fleet fleet = four("ring", "d2");
  fleet.weights = "lazy";
  fleet.stop.rounds = 30;
  expect_near(first_coordinates(run(fleet, begin)), x, 1e-5);
}

/// D-PSGD ends off the optimum if the peers' data differ. D2 does not.
TEST(D2, LeavesNoBias) {
  Fleet fleet = restless(8, "d2");
  fleet.data.quadratic.noise = 0;
  fleet.weights = "lazy";
  fleet.stop.rounds = 3000;
  const Result d2 = run(fleet);
  fleet.algorithm = "d-psgd";
  const Result plain = run(fleet);
  double largest_bias = 0;
  for (std::size_t k = 0; k < 50; ++k) {
    double optimum = 0;
    for (const Values& x : d2.x) optimum += x[k] / 8;
    for (const Values& x : d2.x) EXPECT_NEAR(x[k], optimum, 1e-5);
    for (const Values& x : plain.x) largest_bias = std::max(largest_bias, std::abs(x[k] - optimum));
  }
  EXPECT_GT(largest_bias, 0.1);
}

TEST(D2, RefusesWhereItDiverges) {
  // Even rings with weights of a third have lambda_n = -1/3 exactly.
  const std::string ring = refusal(four("ring", "d2"));
  EXPECT_NE(ring.find("lambda_n = -0.3333"), std::string::npos) << ring;
  EXPECT_NE(ring.find("weights: lazy"), std::string::npos) << ring;
  Fleet cube = quadratic_fleet(16, "hypercube", "d2", "");
  EXPECT_NE(refusal(cube).find("lambda_n = -0.6"), std::string::npos);
  cube.weights = "lazy";
  EXPECT_EQ(refusal(cube), "");
  EXPECT_NE(refusal(quadratic_fleet(8, "random-matching", "d2", "")), "");
  EXPECT_NE(refusal(quadratic_fleet(8, "exponential", "d2", "")), "");
}

/// D2 once ended as far off the optimum as D-PSGD.
TEST(D2, RefusesStepsOfUnlikeSizes) {
  Fleet fleet = four("star", "d2");
  fleet.optimizer.momentum = 0.5;
  EXPECT_EQ(refusal(fleet), "");
  fleet.optimizer.kind = "adam";
  fleet.optimizer.momentum = 0;
  const std::string adam = refusal(fleet);
  EXPECT_NE(adam.find("`adam` gives each peer steps of its own size"), std::string::npos) << adam;
  EXPECT_NE(adam.find("gradient-tracking"), std::string::npos) << adam;
}

TEST(LocalSgd, IsItsPapersRecursion) {
  Values x = begin;
  for (int t = 0; t < 7; ++t) x = mean_of(steps(x, 3));
  Fleet fleet = four("ring", "local-sgd");
  fleet.local_steps = 3;
  fleet.stop.rounds = 7;
  expect_near(first_coordinates(run(fleet, begin)), x, 1e-5);
}

/// All begin at the same x, so the average of x - gamma g is x - gamma times the average of g.
TEST(LocalSgd, WithOneStepIsAllReduce) {
  expect_near(run(restless(8, "local-sgd")), run(restless(8, "all-reduce")), 1e-5);
}

TEST(SlowMo, IsItsPapersRecursion) {
  const double alpha = 0.8;
  const double beta = 0.6;
  Values x = begin;
  Values u(4, 0);
  for (int t = 0; t < 12; ++t) {
    const Values average = mean_of(steps(x, 4));
    for (std::size_t i = 0; i < 4; ++i) {
      u[i] = beta * u[i] + (x[i] - average[i]) / gamma;
      x[i] -= alpha * gamma * u[i];
    }
  }
  Fleet fleet = four("ring", "slowmo", {{"alpha", alpha}, {"beta", beta}});
  fleet.local_steps = 4;
  fleet.stop.rounds = 12;
  expect_near(first_coordinates(run(fleet, begin)), x, 1e-5);
}

TEST(SlowMo, AndDiLoCoWithoutMomentumAreLocalSgd) {
  Fleet fleet = restless(8, "local-sgd");
  fleet.local_steps = 4;
  const Result local = run(fleet);
  fleet.algorithm = "slowmo";
  fleet.settings = {{"alpha", 1}, {"beta", 0}};
  expect_near(run(fleet), local, 1e-5);
  fleet.algorithm = "diloco";
  fleet.settings = {{"outer_lr", 1}, {"outer_momentum", 0}};
  expect_near(run(fleet), local, 1e-5);
}

/// A rate of zero moves no peer, and x must not become 0 / 0.
TEST(SlowMo, TakesARateOfZero) {
  for (const char* algorithm : {"slowmo", "quasi-global-momentum"}) {
    Fleet fleet = restless(4, algorithm);
    fleet.optimizer.lr = 0;
    for (const Values& x : run(fleet).x)
      for (const double value : x) EXPECT_NEAR(value, 0.5, 1e-6) << algorithm;
  }
}

TEST(QuasiGlobalMomentum, IsItsPapersRecursion) {
  const double mu = 0.7;
  Values x = begin;
  Values m(4, 0);
  for (int t = 0; t < 12; ++t) {
    Values half(4);
    for (std::size_t i = 0; i < 4; ++i) half[i] = x[i] - gamma * (x[i] - centers[i] + mu * m[i]);
    const Values next = ring_mean(half);
    for (std::size_t i = 0; i < 4; ++i) m[i] = mu * m[i] + (1 - mu) * (x[i] - next[i]) / gamma;
    x = next;
  }
  Fleet fleet = four("ring", "quasi-global-momentum", {{"mu", mu}});
  fleet.stop.rounds = 12;
  expect_near(first_coordinates(run(fleet, begin)), x, 1e-5);
}

/// The momentum would continue in the direction of the jump after a cut.
TEST(QuasiGlobalMomentum, RefusesEdgesOfOneWay) {
  for (const char* graph : {"exponential", "one-peer-exponential"}) {
    const std::string why = refusal(quadratic_fleet(8, graph, "quasi-global-momentum", ""));
    EXPECT_NE(why.find("this topology is directed: take an undirected one"), std::string::npos)
        << why;
    EXPECT_EQ(refusal(quadratic_fleet(8, graph, "d-psgd", "")), "");
  }
  for (const char* graph : {"ring", "random-matching"})
    EXPECT_EQ(refusal(quadratic_fleet(8, graph, "quasi-global-momentum", "")), "");
}

TEST(QuasiGlobalMomentum, WithoutMomentumIsDPsgd) {
  Fleet fleet = restless(8, "quasi-global-momentum");
  fleet.settings = {{"mu", 0}};
  const std::string hash = run(fleet).hash;
  fleet.algorithm = "d-psgd";
  fleet.order = "atc";
  EXPECT_EQ(run(fleet).hash, hash);
}

TEST(GossipPga, IsItsPapersRecursion) {
  Values x = begin;
  for (int k = 0; k < 11; ++k) x = (k + 1) % 4 == 0 ? mean_of(step(x)) : ring_mean(step(x));
  Fleet fleet = four("ring", "gossip-pga", {{"every", 4}});
  fleet.stop.rounds = 11;
  expect_near(first_coordinates(run(fleet, begin)), x, 1e-5);
}

/// The method has the bits of other methods at both ends of its option.
TEST(GossipPga, LiesBetweenLocalSgdAndDPsgd) {
  Fleet fleet = restless(8, "gossip-pga");
  fleet.local_steps = 2;
  fleet.settings = {{"every", 1}};
  const std::string always = run(fleet).hash;
  fleet.settings = {{"every", 1000}};
  const std::string never = run(fleet).hash;
  fleet.algorithm = "local-sgd";
  EXPECT_EQ(run(fleet).hash, always);
  fleet.algorithm = "d-psgd";
  fleet.order = "atc";
  EXPECT_EQ(run(fleet).hash, never);
}

class ResumedRow : public testing::TestWithParam<const AlgorithmRow*> {};

/// Some rows need powers of two.
TEST_P(ResumedRow, GoesOnFromAnyRoundAsIfItHadNotStopped) {
  const bool doubles = GetParam()->order == "doubling";
  for (const PeerId n : {doubles ? 4U : 3U, 8U, doubles ? 16U : 9U}) {
    SCOPED_TRACE(n);
    expect_it_resumes(row_fleet(*GetParam(), n));
  }
}

/// The state contains the parts that a codec has left out.
TEST_P(ResumedRow, GoesOnInEveryCodec) {
  for (const Codec& codec : codecs_of(*GetParam())) {
    SCOPED_TRACE(to_string(codec));
    Fleet fleet = row_fleet(*GetParam(), 4);
    fleet.codec = codec;
    expect_it_resumes(fleet);
  }
}

INSTANTIATE_TEST_SUITE_P(Registry,
                         ResumedRow,
                         testing::ValuesIn(synchronous_rows()),
                         [](const auto& row) { return name_of(*row.param); });

class ResumedLocalSteps : public testing::TestWithParam<const AlgorithmRow*> {};

/// If each peer has its own number of steps, the schedule resumes from that number too.
TEST_P(ResumedLocalSteps, GoOnWhereTheyAreUnequal) {
  Fleet fleet = row_fleet(*GetParam(), 4);
  fleet.own_steps = {7, 2, 2, 1};
  if (GetParam()->kind != "scaffold") fleet.optimizer.schedule.kind = "cosine";
  expect_it_resumes(fleet);
}

INSTANTIATE_TEST_SUITE_P(Registry,
                         ResumedLocalSteps,
                         testing::ValuesIn(rows_with_unequal_steps()),
                         [](const auto& row) { return name_of(*row.param); });

}  // namespace
}  // namespace gv
