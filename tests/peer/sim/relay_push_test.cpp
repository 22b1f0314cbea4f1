#include <algorithm>
#include <numeric>

#include <gtest/gtest.h>

#include "tests/peer/sim/injecting.h"
#include "tests/peer/sim/method_runs.h"

// RelaySGD and stochastic gradient push, in virtual time.

namespace gv {
namespace {

using std::chrono::milliseconds;

/// Peers that do not move by themselves.
Fleet still(PeerId n, const std::string& graph, const std::string& algorithm) {
  Fleet fleet = quadratic_fleet(n, graph, algorithm, "");
  fleet.data.quadratic = {.dimension = 1,
                          .hessian = {1},
                          .noise = 0,
                          .spread = 0,
                          .start = 0,
                          .centers = std::vector<std::vector<double>>(n, {0})};
  fleet.optimizer.lr = 0;
  return fleet;
}

/// theory: path 0-1-2-3, x = (1, 2, 3, 4), zero gradient.
TEST(RelaySgd, HasThePublishedVectors) {
  const std::vector<Values> after{
      {1.25, 2, 3, 3.75}, {1.875, 2.5625, 2.4375, 3.125}, {2.859375, 2.65625, 2.34375, 2.140625}};
  for (Round rounds = 1; rounds <= 3; ++rounds) {
    Fleet fleet = still(4, "path", "relay-sgd");
    fleet.stop.rounds = rounds;
    expect_near(first_coordinates(run(fleet, {1, 2, 3, 4})), after[rounds - 1], 1e-6);
  }
}

/// A message may be late by as many rounds as the tree is wide, and the mean is found all the same.
TEST(RelaySgd, LeavesNoBias) {
  Fleet fleet = restless(7, "relay-sgd");
  fleet.topology = quadratic_fleet(7, "binary-tree", "relay-sgd", "").topology;
  fleet.data.quadratic.noise = 0;
  fleet.optimizer.lr = 0.02;
  fleet.stop.rounds = 4000;
  const Result relayed = run(fleet);
  fleet.algorithm = "all-reduce";
  fleet.order = "driver";
  const Result exact = run(fleet);
  for (std::size_t k = 0; k < 50; ++k)
    for (std::size_t i = 0; i < 7; ++i) EXPECT_NEAR(relayed.x[i][k], exact.x[0][k], 0.05);
}

/// What a cut and a stop did is forgotten, and nobody waits in every round for who fell behind.
TEST(RelaySgd, HealsAfterFaults) {
  Fleet fleet = restless(7, "relay-sgd");
  fleet.topology = quadratic_fleet(7, "binary-tree", "relay-sgd", "").topology;
  fleet.data.quadratic.dimension = 1;
  fleet.data.quadratic.hessian = {1};
  fleet.data.quadratic.noise = 0;
  fleet.optimizer.lr = 0.02;
  fleet.stop.rounds = 400;
  fleet.flops = 1e4;
  const Assembly assembly(fleet);
  Observer observer(7, assembly.evaluator(), {});
  const SimulationResult result = simulate(assembly,
                                           observer,
                                           injecting({{.at = milliseconds(5),
                                                       .kind = Injection::Kind::cut,
                                                       .peer = 0,
                                                       .other = 1,
                                                       .length = milliseconds(60)},
                                                      {.at = milliseconds(90),
                                                       .kind = Injection::Kind::stop,
                                                       .peer = 2,
                                                       .length = milliseconds(60)}}));
  EXPECT_TRUE(result.lost.empty());
  EXPECT_LT(result.virtual_time, std::chrono::seconds(20));
  const auto& finals = observer.finals();
  for (const auto& [peer, report] : finals) {
    EXPECT_EQ(report.round, 400U) << peer;
    EXPECT_NEAR(report.model->floats()[0], finals.at(0).model->floats()[0], 5e-3) << peer;
  }
}

TEST(RelaySgd, NeedsATree) {
  EXPECT_NE(refusal(quadratic_fleet(6, "ring", "relay-sgd", "")).find("6 edges for 6 peers"),
            std::string::npos);
  EXPECT_NE(refusal(quadratic_fleet(6, "exponential", "relay-sgd", "")).find("take `path`"),
            std::string::npos);
  EXPECT_EQ(refusal(quadratic_fleet(6, "star", "relay-sgd", "")), "");
  EXPECT_EQ(refusal(quadratic_fleet(6, "path", "relay-sgd", "")), "");
}

/// Where all have as many receivers as senders the weights stay 1.
TEST(Sgp, IsAdaptThenCombineOnARegularGraph) {
  for (const char* graph : {"exponential", "one-peer-exponential"}) {
    Fleet fleet = restless(8, "sgp");
    const Fleet shaped = quadratic_fleet(8, graph, "sgp", "");
    fleet.topology = shaped.topology;
    fleet.schedule = shaped.schedule;
    const Result pushed = run(fleet);
    fleet.algorithm = "d-psgd";
    fleet.order = "atc";
    expect_near(pushed, run(fleet), 1e-4);
  }
}

TEST(Sgp, OverlapEndsAtTheSameOptimum) {
  const auto ends = [](double overlap) {
    Fleet fleet = restless(8, "sgp");
    fleet.topology = quadratic_fleet(8, "exponential", "sgp", "").topology;
    fleet.settings = {{"overlap", overlap}};
    fleet.data.quadratic.noise = 0;
    fleet.data.quadratic.spread = 0;
    fleet.optimizer.lr = 0.05;
    fleet.stop.rounds = 800;
    return run(fleet);
  };
  expect_near(ends(0), ends(2), 1e-4);
}

/// Nothing is lost under cuts and stops: what comes late counts when it comes.
TEST(Sgp, KeepsTheMean) {
  Fleet fleet = still(8, "exponential", "sgp");
  fleet.stop.rounds = 300;
  fleet.flops = 1e4;
  const Assembly assembly(fleet);
  SimulationOptions options = injecting({{.at = milliseconds(5),
                                          .kind = Injection::Kind::cut,
                                          .peer = 0,
                                          .other = 1,
                                          .length = milliseconds(60)},
                                         {.at = milliseconds(90),
                                          .kind = Injection::Kind::stop,
                                          .peer = 2,
                                          .length = milliseconds(100)}});
  for (PeerId i = 0; i < 8; ++i) {
    const auto replica = assembly.host_replica(i);
    Buffer x(sizeof(float));
    x.floats()[0] = static_cast<float>(i);
    replica->load(Vector::x, {0, 1}, x);
    StateWriter state;
    replica->save(state);
    options.resume.push_back(
        {.fleet = {}, .model = {}, .peer = i, .round = 0, .state = state.take()});
  }
  Observer observer(8, assembly.evaluator(), {});
  simulate(assembly, observer, options);
  for (const auto& [peer, report] : observer.finals()) {
    EXPECT_EQ(report.round, 300U) << peer;
    EXPECT_NEAR(report.model->floats()[0], 3.5, 1e-4) << peer;
  }
}

TEST(Sgp, IsForDirectedGraphs) {
  EXPECT_NE(refusal(quadratic_fleet(6, "ring", "sgp", "")).find("take `exponential`"),
            std::string::npos);
  EXPECT_EQ(refusal(quadratic_fleet(6, "exponential", "sgp", "")), "");
}

}  // namespace
}  // namespace gv
