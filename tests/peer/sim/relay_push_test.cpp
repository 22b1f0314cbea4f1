#include <algorithm>
#include <fstream>
#include <numeric>

#include <gtest/gtest.h>

#include "graph/formats/graph_file.h"
#include "tests/peer/sim/injecting.h"
#include "tests/peer/sim/method_runs.h"
#include "tests/scratch_folder.h"

// RelaySGD and stochastic gradient push, in virtual time.

namespace gv {
namespace {

using std::chrono::milliseconds;

/// Returns peers that do not move by themselves.
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

/// A message may be late by as many rounds as the tree is wide. The mean is still reached.
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

/// The effects of a cut and of a stop fade, and no peer waits for a lagging one in every round.
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
  const SimulationResult result = simulate(assembly, observer,
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

/// Its queue at the slow neighbour is full during that peer's computation. Refused messages are
/// sent again.
TEST(RelaySgd, RunsFarAheadOfANeighbourWithinADeadlineShorterThanItsStep) {
  Fleet fleet = restless(3, "relay-sgd");
  fleet.topology = quadratic_fleet(3, "path", "relay-sgd", "").topology;
  fleet.stop.rounds = 60;
  fleet.flops = 1e4;
  fleet.faults.deadline = milliseconds(1);
  fleet.peers[0].speed = 50;
  const Assembly assembly(fleet);
  Observer observer(3, assembly.evaluator(), {});
  SimulationOptions options;
  options.threads = 1;
  const SimulationResult result = simulate(assembly, observer, options);
  EXPECT_TRUE(result.lost.empty());
  for (const auto& [peer, report] : observer.finals()) EXPECT_EQ(report.round, 60U) << peer;
}

TEST(RelaySgd, NeedsATree) {
  EXPECT_NE(refusal(quadratic_fleet(6, "ring", "relay-sgd", "")).find("6 edges for 6 peers"),
            std::string::npos);
  EXPECT_NE(refusal(quadratic_fleet(6, "exponential", "relay-sgd", "")).find("take `path`"),
            std::string::npos);
  EXPECT_EQ(refusal(quadratic_fleet(6, "star", "relay-sgd", "")), "");
  EXPECT_EQ(refusal(quadratic_fleet(6, "path", "relay-sgd", "")), "");
}

/// The weights stay 1 if each peer has as many receivers as senders.
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

/// Lets each peer begin with its own number.
void begin_at(const Assembly& assembly, const Values& starts, SimulationOptions& options) {
  for (PeerId i = 0; i < starts.size(); ++i) {
    const auto replica = assembly.host_replica(i);
    Buffer x(sizeof(float));
    x.floats()[0] = static_cast<float>(starts[i]);
    replica->load(Vector::x, {0, 1}, x);
    StateWriter state;
    replica->save(state);
    options.resume.push_back(
        {.fleet = {}, .model = {}, .peer = i, .round = 0, .state = state.take()});
  }
}

/// Cuts and stops lose no mass: late messages count when they arrive.
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
  begin_at(assembly, {0, 1, 2, 3, 4, 5, 6, 7}, options);
  Observer observer(8, assembly.evaluator(), {});
  simulate(assembly, observer, options);
  for (const auto& [peer, report] : observer.finals()) {
    EXPECT_EQ(report.round, 300U) << peer;
    EXPECT_NEAR(report.model->floats()[0], 3.5, 1e-4) << peer;
  }
}

/// Without answers for hundreds of rounds, a peer pushes less each time, until fp16 has only zeros.
/// Its weight was once still sent, and its model doubled in each round.
TEST(Sgp, IsNoFurtherInACodecWhereNothingIsHeardForLong) {
  for (const char* graph : {"exponential", "one-peer-exponential"})
    for (const PeerId n : {2U, 4U, 8U})
      for (const Codec::Kind kind : {Codec::Kind::fp16, Codec::Kind::bf16, Codec::Kind::int8}) {
        SCOPED_TRACE(testing::Message()
                     << n << ' ' << graph << ' ' << to_string(Codec{.kind = kind}));
        Fleet fleet = still(n, graph, "sgp");
        fleet.codec = Codec{.kind = kind};
        fleet.stop.rounds = 600;
        fleet.faults.deadline = milliseconds(5);
        const Assembly assembly(fleet);
        LinkTimes times = swarm_times();
        times.dead_after = std::chrono::seconds(10);
        std::vector<Injection> stops;
        for (PeerId i = 1; i < n; ++i)
          stops.push_back({.at = milliseconds(2),
                           .kind = Injection::Kind::stop,
                           .peer = i,
                           .length = std::chrono::seconds(2)});
        SimulationOptions options = injecting(stops, times);
        begin_at(assembly, Values(n, 1), options);
        Observer observer(n, assembly.evaluator(), {});
        simulate(assembly, observer, options);
        for (const auto& [peer, report] : observer.finals())
          EXPECT_NEAR(report.model->floats()[0], 1, 0.02) << peer;
      }
}

/// The fleet's model is the mean of all peers even if they are far from agreement at the end.
TEST(Sgp, CountsWhatIsUnderWayWhenTheRoundsAreOver) {
  for (const auto& [graph, peers] :
       {std::pair{"exponential", 8}, {"one-peer-exponential", 6}, {"exponential", 5}}) {
    for (const double overlap : {0, 1, 2, 5}) {
      SCOPED_TRACE(testing::Message() << graph << ", overlap " << overlap);
      Fleet fleet = still(static_cast<PeerId>(peers), graph, "sgp");
      fleet.settings = {{"overlap", overlap}};
      fleet.stop.rounds = 4;
      Values starts;
      for (int i = 0; i < peers; ++i) starts.push_back(i * i);
      const double mean = std::accumulate(starts.begin(), starts.end(), 0.0) / peers;
      const Assembly assembly(fleet);
      SimulationOptions options;
      begin_at(assembly, starts, options);
      Observer observer(assembly.fleet.size(), assembly.evaluator(), {});
      simulate(assembly, observer, options);
      EXPECT_NEAR(observer.mean_model()[0], mean, 1e-4);
    }
  }
}

TEST(Sgp, NeedsADirectedGraphOrNoW) {
  Fleet ring = quadratic_fleet(6, "ring", "sgp", "");
  EXPECT_NE(refusal(ring).find("weights: push-sum"), std::string::npos);
  ring.weights = "push-sum";
  EXPECT_EQ(refusal(ring), "");
  EXPECT_EQ(refusal(quadratic_fleet(6, "exponential", "sgp", "")), "");
  ring.algorithm = "d-psgd";
  EXPECT_NE(refusal(ring).find("take `sgp`"), std::string::npos);
}

/// A graph without any W: peer 0 sends to 1, 1 to 2, 2 to both.
Fleet on_unequal_degrees(const ScratchFolder& folder) {
  Fleet fleet = still(3, "ring", "sgp");
  const std::string path = folder.path() + "/graph.edges";
  std::ofstream(path) << "# directed\n0 1\n1 2\n2 0\n2 1\n";
  fleet.topology = file_topology(path);
  fleet.weights = "push-sum";
  return fleet;
}

/// theory: P = [[1/2, 0, 1/3], [1/2, 1/2, 1/3], [0, 1/2, 1/3]], x = (1, 5, 9), zero gradient.
TEST(Sgp, HasThePublishedVectorOfPushSum) {
  const ScratchFolder folder;
  Fleet fleet = on_unequal_degrees(folder);
  fleet.stop.rounds = 3;
  const Values after{5.139860139860, 4.986206896552, 4.925581395349};
  expect_near(first_coordinates(run(fleet, {1, 5, 9})), after, 1e-6);
  fleet.stop.rounds = 100;
  expect_near(first_coordinates(run(fleet, {1, 5, 9})), {5, 5, 5}, 1e-5);
  fleet.weights = "metropolis";
  EXPECT_NE(refusal(fleet), "") << "no W has this graph";
}

using Edges = std::vector<std::pair<PeerId, PeerId>>;

/// Returns a circle, which connects all peers, and random edges.
Edges draw_edges(PeerId n, Rng& rng) {
  Edges edges;
  for (PeerId i = 0; i < n; ++i) edges.emplace_back(i, (i + 1) % n);
  for (std::uint64_t k = rng.below(2 * n); k > 0; --k) {
    const std::pair edge(static_cast<PeerId>(rng.below(n)), static_cast<PeerId>(rng.below(n)));
    if (edge.first != edge.second && std::ranges::count(edges, edge) == 0) edges.push_back(edge);
  }
  return edges;
}

/// The published recursion (Assran et al. 2019, Algorithm 1), on (x - b_i)^2 / 2 from 0.
class Published {
 public:
  Published(Values b, const Edges& edges) : b_(std::move(b)), edges_(edges), shares_(b_.size(), 1) {
    for (const auto& [from, to] : edges_) shares_[from] += 1;
  }
  void round(double rate) {
    for (std::size_t i = 0; i < b_.size(); ++i) x_[i] -= rate * (x_[i] / w_[i] - b_[i]);
    x_ = pushed(x_);
    w_ = pushed(w_);
  }
  double z(std::size_t i) const { return x_[i] / w_[i]; }
  double least() const { return std::ranges::min(w_); }

 private:
  Values pushed(const Values& v) const {
    Values sum(v.size());
    for (std::size_t i = 0; i < v.size(); ++i) sum[i] = v[i] / shares_[i];
    for (const auto& [from, to] : edges_) sum[to] += v[from] / shares_[from];
    return sum;
  }
  Values b_;
  Edges edges_;
  Values shares_;
  Values x_ = Values(b_.size(), 0), w_ = Values(b_.size(), 1);
};

/// The gradients of a peer with little weight count fully. A peer with less than a quarter once
/// moved by 4 w of its step, so that the fleet ended off the optimum at any rate.
TEST(Sgp, IsThePublishedRecursionOnAnyDirectedGraph) {
  const ScratchFolder folder;
  Rng rng(54);
  PeerId light = 0;
  for (int k = 0; k < 200; ++k) {
    const auto n = static_cast<PeerId>(3 + rng.below(14));
    const Edges edges = draw_edges(n, rng);
    Values b;
    for (PeerId i = 0; i < n; ++i) b.push_back(10 * rng.uniform());
    const std::string path = folder.path() + "/graph.edges";
    std::ofstream file(path);
    file << "# directed\n";
    for (const auto& [from, to] : edges) file << from << ' ' << to << '\n';
    file.close();
    Fleet fleet = still(n, "ring", "sgp");
    fleet.topology = file_topology(path);
    fleet.weights = "push-sum";
    fleet.data.quadratic.centers.clear();
    for (const double center : b) fleet.data.quadratic.centers.push_back({center});
    fleet.optimizer.lr = 0.002;
    fleet.stop.rounds = 400;
    Published published(b, edges);
    for (int round = 0; round < 400; ++round) published.round(0.002);
    light += published.least() < 0.25 ? 1 : 0;
    const Values ours = first_coordinates(run(fleet));
    for (PeerId i = 0; i < n; ++i) EXPECT_NEAR(ours[i], published.z(i), 1e-3) << "graph " << k;
  }
  EXPECT_GT(light, 40U);
}

/// The peers end near the common optimum with all degrees.
TEST(Sgp, LearnsOnUnequalDegrees) {
  const ScratchFolder folder;
  Fleet fleet = on_unequal_degrees(folder);
  fleet.data.quadratic.centers = {{0}, {3}, {9}};
  fleet.optimizer.lr = 0.01;
  fleet.stop.rounds = 3000;
  for (const double x : first_coordinates(run(fleet))) EXPECT_NEAR(x, 4, 0.2);
}

}  // namespace
}  // namespace gv
