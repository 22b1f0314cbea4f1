#include <cmath>
#include <numeric>

#include <gtest/gtest.h>

#include "graph/topologies.h"
#include "optim/rng.h"
#include "peer/sim/swarm.h"
#include "tests/peer/fleet/fleet_file.h"
#include "tests/peer/sim/method_runs.h"
#include "tests/peer/sim/told.h"

// `topology: { weights: shares }`: D-PSGD with a row-stochastic W, in which peers count by their
// samples.

namespace gv {
namespace {

using ShareRows = std::vector<Values>;

/// Returns linear regression on shares with these sizes. Each minibatch is a whole share: no noise.
Fleet unlike(const std::string& graph, const char* order, std::vector<std::uint32_t> sizes) {
  Fleet fleet = quadratic_fleet(static_cast<PeerId>(sizes.size()), graph, "d-psgd", order);
  fleet.weights = "shares";
  fleet.data = {};
  fleet.data.kind = "linear";
  fleet.data.train = std::accumulate(sizes.begin(), sizes.end(), 0U);
  fleet.data.test = 50;
  fleet.data.features = 3;
  fleet.data.noise = 1;
  fleet.data.partition = {.kind = "quantity",
                          .sizes = std::vector<double>(sizes.begin(), sizes.end())};
  fleet.model.kind = "linear";
  for (PeerSpec& peer : fleet.peers) peer.batch = fleet.data.train;
  fleet.optimizer.lr = 0.03;
  return fleet;
}

/// Returns W for these samples, entry by entry.
ShareRows mixing(const Topology& t, const std::vector<double>& samples) {
  const std::size_t n = samples.size();
  const auto offer = [&](std::size_t i) {
    return samples[i] / (1 + static_cast<double>(t.neighbors[i].size()));
  };
  ShareRows w(n, Values(n, 0));
  for (std::size_t i = 0; i < n; ++i) {
    w[i][i] = 1;
    for (const PeerId j : t.neighbors[i]) {
      w[i][j] = std::min(offer(i), offer(j)) / samples[i];
      w[i][i] -= w[i][j];
    }
  }
  return w;
}

ShareRows times(const ShareRows& w, const ShareRows& x) {
  ShareRows y(x.size(), Values(x[0].size(), 0));
  for (std::size_t i = 0; i < x.size(); ++i)
    for (std::size_t j = 0; j < x.size(); ++j)
      for (std::size_t k = 0; k < x[j].size(); ++k) y[i][k] += w[i][j] * x[j][k];
  return y;
}

/// D-PSGD in an order, with W and the gradients of the fleet's own objectives.
ShareRows d_psgd(const Fleet& fleet, const ShareRows& w, ShareRows x, int rounds) {
  const Assembly assembly(fleet);
  std::vector<std::unique_ptr<Objective>> objectives;
  for (PeerId i = 0; i < x.size(); ++i) objectives.push_back(assembly.objective(i));
  const auto step = [&](const ShareRows& from, ShareRows at) {
    for (std::size_t i = 0; i < from.size(); ++i) {
      const std::vector<float> point(from[i].begin(), from[i].end());
      std::vector<float> g(point.size());
      objectives[i]->value_and_gradient(point, fleet.peers[i].batch, g);
      for (std::size_t k = 0; k < g.size(); ++k)
        at[i][k] -= fleet.optimizer.lr * static_cast<double>(g[k]);
    }
    return at;
  };
  for (int t = 0; t < rounds; ++t) {
    if (fleet.order == "lian") x = step(x, times(w, x));
    if (fleet.order == "atc") x = times(w, step(x, x));
    if (fleet.order == "cta") {
      const ShareRows y = times(w, x);
      x = step(y, y);
    }
  }
  return x;
}

TEST(Shares, AreDPsgdByARowStochasticMatrix) {
  constexpr const char* graphs[] = {"ring", "path", "star", "complete", "binary-tree"};
  constexpr const char* orders[] = {"lian", "atc", "cta"};
  for (std::uint64_t seed = 1; seed <= 15; ++seed) {
    SCOPED_TRACE(seed);
    Rng rng = Rng(seed).derive("shares");
    const std::string graph = graphs[rng.below(5)];
    std::vector<std::uint32_t> sizes(3 + rng.below(5));
    for (std::uint32_t& size : sizes) size = 2 + static_cast<std::uint32_t>(rng.below(40));
    Fleet fleet = unlike(graph, orders[seed % 3], sizes);
    fleet.seed = seed;
    fleet.stop.rounds = 20;
    const Assembly assembly(fleet);
    ASSERT_EQ(assembly.dimension, 4U);
    std::vector<double> samples;
    for (const auto& rows : assembly.partition) samples.push_back(static_cast<double>(rows.size()));
    ShareRows start(sizes.size(), Values(4));
    for (Values& x : start)
      for (double& v : x) v = rng.normal();
    const ShareRows w = mixing(assembly.topology, samples);
    const ShareRows expected = d_psgd(fleet, w, start, 20);
    const Result result = run_from(fleet, start);
    for (std::size_t i = 0; i < sizes.size(); ++i) expect_near(result.x[i], expected[i], 1e-4);
  }
}

/// All peers reach the mean by samples if there are no gradients.
TEST(Shares, KeepTheMeanBySamples) {
  Fleet fleet = unlike("ring", "atc", {5, 40, 10, 3, 22});
  fleet.optimizer.lr = 0;
  fleet.stop.rounds = 400;
  std::vector<Values> start;
  double mean = 0;
  const Assembly assembly(fleet);
  for (PeerId i = 0; i < 5; ++i) {
    const double value = i == 1 ? 10 : i;
    start.push_back(Values(4, value));
    mean += value * static_cast<double>(assembly.partition[i].size()) / 80;
  }
  for (const Values& x : run_from(fleet, start).x)
    for (const double v : x) EXPECT_NEAR(v, mean, 1e-4);
  EXPECT_GT(mean, 6) << "the plain mean is 3.8";
}

/// Compares the final mean by samples, at rates so small that little bias is left.
TEST(Shares, LearnWhatOnePeerWithAllSamplesDoes) {
  const auto learnt = [](Fleet fleet) {
    fleet.optimizer.lr = 0.004;
    fleet.stop.rounds = 8000;
    const Assembly assembly(fleet);
    Observer observer(assembly.fleet.size(), assembly.evaluator(), {});
    SimulationOptions options;
    options.threads = 1;
    simulate(assembly, observer, options);
    return observer.mean_model();
  };
  const auto distance = [](const std::vector<float>& a, const std::vector<float>& b) {
    double sum = 0;
    for (std::size_t k = 0; k < a.size(); ++k)
      sum += std::pow(static_cast<double>(a[k]) - static_cast<double>(b[k]), 2);
    return std::sqrt(sum);
  };
  Fleet fleet = unlike("complete", "atc", {10, 10, 20, 200});
  const std::vector<float> shares = learnt(fleet);
  fleet.weights = "metropolis";
  const std::vector<float> alike = learnt(fleet);
  Fleet alone = unlike("ring", "lian", {240});
  alone.algorithm = "isolated";
  alone.order = "";
  alone.weights = "metropolis";
  const std::vector<float> all = learnt(alone);
  EXPECT_LT(distance(shares, all), 0.02);
  EXPECT_GT(distance(alike, all), 3 * distance(shares, all));
}

TEST(Shares, GoOnFromACheckpointToTheBit) {
  for (const char* order : {"lian", "atc", "cta"}) {
    Fleet fleet = unlike("ring", order, {5, 40, 10, 3, 22});
    for (PeerSpec& peer : fleet.peers) peer.batch = 4;
    fleet.stop.rounds = 20;
    expect_it_resumes(fleet);
  }
}

/// Apart from its own steps, a peer's x moves only by its part of flows that are opposite at both
/// ends. So the mean by samples stays, whatever is late, lost or restarted.
TEST(Shares, LoseNothingWhateverHappens) {
  for (const char* order : {"lian", "atc"}) {
    Fleet fleet = unlike("ring", order, {5, 40, 10, 3, 22, 8});
    for (PeerSpec& peer : fleet.peers) peer.batch = 4;
    fleet.stop.rounds = 60;
    fleet.network.latency = std::chrono::microseconds(500);
    fleet.flops = 1e6;
    SwarmOptions options;
    options.first = 1;
    options.last = 40;
    options.jobs = 1;
    const SwarmResult result = swarm(Assembly(fleet), options);
    EXPECT_EQ(told(result), "");
    EXPECT_GT(result.sum_of_faults(), 100U);
  }
}

std::string why(const std::string& more) {
  try {
    const Assembly fleet(
        read("version: 1\npeers: 4\ndata: { kind: linear, train: 80, test: 20, features: 3 }\n"
             "model: linear\nstop: { rounds: 5 }\n" +
             more));
  } catch (const FleetError& wrong) {
    return wrong.what();
  }
  return "";
}

TEST(Shares, AreRefusedWherePeersCannotCountByThem) {
  const std::string ring = "topology: { kind: ring, weights: shares }\n";
  EXPECT_EQ(why(ring), "");
  EXPECT_EQ(why(ring + "algorithm: { kind: d-psgd, order: cta, codec: int8 }\n"), "");
  for (const char* method : {"gradient-tracking", "all-reduce", "gut", "isolated"})
    EXPECT_NE(why(ring + "algorithm: " + method + "\n").find("they count by their samples"),
              std::string::npos)
        << method;
  EXPECT_NE(why("topology: { kind: exponential, weights: shares }\n").find("is directed"),
            std::string::npos);
  EXPECT_NE(why(ring + "robust: { clip: 1 }\n").find("move both ends of an edge alike"),
            std::string::npos);
  EXPECT_NE(why(ring + "train: { peer_weights: samples }\n").find("take one of the two"),
            std::string::npos);
  EXPECT_NE(refusal([] {
              Fleet fleet = quadratic_fleet(4, "ring", "d-psgd", "lian");
              fleet.weights = "shares";
              return fleet;
            }())
                .find("a quadratic has no samples"),
            std::string::npos);
}

TEST(Shares, ArePartOfTheDigest) {
  const auto digest = [](const char* weights) {
    return read(
               "version: 1\npeers: 4\ndata: { kind: linear, train: 80, test: 20, features: 3 }\n"
               "model: linear\nstop: { rounds: 5 }\ntopology: { kind: ring, weights: " +
               std::string(weights) + " }\n")
        .digest;
  };
  EXPECT_NE(digest("shares"), digest("metropolis"));
}

}  // namespace
}  // namespace gv
