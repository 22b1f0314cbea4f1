#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "graph/topologies.h"
#include "peer/sim/simulation.h"
#include "peer/study/predict/forecast/round_prediction.h"
#include "tests/peer/fleet/test_fleet.h"

namespace gv {
namespace {

using std::chrono::milliseconds;

constexpr double megabyte = 1e6;

NetworkSpec network_of(NetworkShape shape) {
  return {.latency = milliseconds(10), .bandwidth = 1e8, .shape = shape};  // 10 ms + 10 ms per MB
}

/// Returns the virtual seconds until all peers have done `rounds` rounds.
double simulated_seconds(Fleet fleet, Round rounds) {
  fleet.stop.rounds = rounds;
  const Assembly assembly(fleet);
  Observer observer(assembly.fleet.size(), assembly.evaluator(), {});
  return std::chrono::duration<double>(simulate(assembly, observer, {}).virtual_time).count();
}

/// Returns the virtual seconds of a round without the start, from runs of `rounds` and twice as
/// many rounds.
double simulated_round(const Fleet& fleet, Round rounds = 16) {
  return (simulated_seconds(fleet, 2 * rounds) - simulated_seconds(fleet, rounds)) /
         static_cast<double>(rounds);
}

/// Makes a fleet of a hundredth of a megabyte, on a network a hundred times slower.
Fleet small_fleet(PeerId n,
                  const std::string& graph,
                  const std::string& order,
                  NetworkShape shape) {
  const bool gossip = !order.empty();
  Fleet fleet = quadratic_fleet(n, graph, gossip ? "d-psgd" : "all-reduce", order);
  fleet.data.quadratic.dimension = 2500;
  fleet.network = network_of(shape);
  fleet.network.bandwidth = 1e6;
  return fleet;
}

TEST(NetworkModel, ClosedFormOfTheRing) {
  const NetworkSpec nic = network_of(NetworkShape::per_nic);
  const NetworkSpec link = network_of(NetworkShape::per_link);
  for (const NetworkSpec& network : {nic, link}) {
    const std::vector<RingPiece> fifth{{.floats = 1, .bytes = 200'000}};
    EXPECT_NEAR(ring_round_seconds(network, std::vector<RingPeer>(5), fifth, 1), 8 * 0.012, 1e-12);
    EXPECT_EQ(ring_round_seconds(network, std::vector<RingPeer>(1), fifth, 1), 0);
  }
}

/// On regular graphs with large models the recursion is alpha + D M / B through one card, and alpha
/// + M / B if each link has its own bandwidth.
TEST(NetworkModel, RecursionAgreesWithTheClosedForm) {
  for (const auto& [graph, degree] :
       {std::pair{"ring", 2.0}, std::pair{"torus:4x4", 4.0}, std::pair{"hypercube", 4.0}}) {
    for (const NetworkShape shape : {NetworkShape::per_nic, NetworkShape::per_link}) {
      const Topology topology = build(parse_topology(graph), 16);
      std::vector<GossipPeer> peers;
      for (const auto& neighbors : topology.neighbors)
        peers.push_back({.receivers = neighbors, .before = 0.005});
      const std::vector<std::uint64_t> frames(40, 25'000);
      const double round = gossip_round_seconds(network_of(shape), peers, frames, 1);
      const double through = shape == NetworkShape::per_nic ? degree : 1;
      EXPECT_NEAR(round, 0.005 + 0.010 + through * 0.010, 0.001) << graph;
    }
  }
}

/// A model in three pieces, each sent to both neighbours in turn.
TEST(NetworkModel, PiecesShareTheCard) {
  Fleet fleet = small_fleet(4, "ring", "atc", NetworkShape::per_nic);
  fleet.data.quadratic.dimension = 270'000;
  fleet.network.bandwidth = 1e7;
  const double predicted = predict_round(Assembly(fleet)).seconds_per_round;
  EXPECT_NEAR(predicted, 0.010 + 2 * 4 * 270'000 / 1e7, 0.001);
  EXPECT_NEAR(simulated_round(fleet) / predicted, 1, 0.01);
}

/// The runtime's algorithms take as long in virtual time as the model predicts.
TEST(NetworkModel, SimulatedSecondsAreThePredicted) {
  for (const NetworkShape shape : {NetworkShape::per_nic, NetworkShape::per_link}) {
    for (const char* graph : {"ring", "star", "path", "torus:3x3", "complete", "exponential"}) {
      for (const char* order : {"lian", "atc", "cta", ""}) {
        SCOPED_TRACE(testing::Message() << graph << " " << order << " " << static_cast<int>(shape));
        const Fleet fleet = small_fleet(9, graph, order, shape);
        const double predicted = predict_round(Assembly(fleet)).seconds_per_round;
        EXPECT_NEAR(simulated_round(fleet) / predicted, 1, 0.01);
      }
    }
  }
}

/// Fewer bytes take less time, in the model too. ("" is ring all-reduce.)
TEST(NetworkModel, SimulatedSecondsInACodec) {
  for (const char* order : {"lian", "atc", ""}) {
    Fleet fleet = small_fleet(9, "ring", order, NetworkShape::per_nic);
    fleet.data.quadratic.dimension = 30'000;
    const double floats = predict_round(Assembly(fleet)).seconds_per_round;
    for (const Codec::Kind kind : {Codec::Kind::fp16, Codec::Kind::int8}) {
      SCOPED_TRACE(testing::Message() << order << " " << static_cast<int>(kind));
      fleet.codec = Codec{.kind = kind};
      const double predicted = predict_round(Assembly(fleet)).seconds_per_round;
      EXPECT_LT(predicted, 0.9 * floats);
      EXPECT_NEAR(simulated_round(fleet) / predicted, 1, 0.02);
    }
  }
}

/// Graphs that change with the round: each peer waits for its senders of the round. Random graphs
/// use the very rounds of the model.
TEST(NetworkModel, SimulatedSecondsOfSchedules) {
  for (const char* schedule : {"one-peer-exponential", "random-matching", "base:k=2", "od-equi-dyn",
                               "matcha:budget=0.5,graph=torus:3x4"}) {
    for (const char* order : {"lian", "atc"}) {
      SCOPED_TRACE(testing::Message() << schedule << " " << order);
      const Fleet fleet = small_fleet(12, schedule, order, NetworkShape::per_nic);
      const double predicted = predict_round(Assembly(fleet)).seconds_per_round;
      EXPECT_NEAR(simulated_round(fleet, 64) / predicted, 1, 0.01);
    }
  }
}

/// If no peer waits for a round, the model simulates the run itself, without its arithmetic.
TEST(NetworkModel, SimulatedSecondsWherePairsAreDrawn) {
  for (const std::uint64_t seed : {7, 8, 9}) {
    SCOPED_TRACE(seed);
    Fleet fleet = small_fleet(8, "ring", "", NetworkShape::per_nic);
    fleet.algorithm = "ad-psgd";
    fleet.data.quadratic.dimension = 30'000;
    fleet.seed = seed;
    fleet.stop.rounds = 100;
    const double predicted = predict_round(Assembly(fleet)).seconds_per_round;
    EXPECT_NEAR(simulated_seconds(fleet, 100) / (100 * predicted), 1, 1e-6);
    if (seed > 7) continue;
    fleet.stop.rounds = 2500;  // more than the model runs
    const double longer = predict_round(Assembly(fleet)).seconds_per_round;
    EXPECT_NEAR(simulated_seconds(fleet, 2500) / (2500 * longer), 1, 0.03);
  }
}

/// Seconds were once those of peer 0. A slow link elsewhere made them 17 times too short, and
/// renumbering the peers changed them.
TEST(NetworkModel, WhoeverHasTheSlowLinkTheFleetIsDoneWhenAllAre) {
  for (const auto& [kind, order] : {std::pair{"ad-psgd", ""},
                                    {"downpour", ""},
                                    {"async-diloco", ""},
                                    {"easgd", "async"},
                                    {"parameter-server", "async"}}) {
    double least = 1e9, most = 0;
    for (PeerId slow = 0; slow < 4; ++slow) {
      SCOPED_TRACE(testing::Message() << kind << ", slow link of " << slow);
      Fleet fleet = quadratic_fleet(4, "complete", kind, order);
      fleet.data.quadratic.dimension = 2500;
      fleet.network = network_of(NetworkShape::per_nic);
      for (PeerId other = 0; other < 5; ++other)
        for (const auto& link : {std::pair{slow, other}, {other, slow}})
          fleet.network.links[link] = {.latency = milliseconds(50), .bandwidth = 2.5e5};
      fleet.stop.rounds = 60;
      const double predicted = 60 * predict_round(Assembly(fleet)).seconds_per_round;
      EXPECT_NEAR(simulated_seconds(fleet, 60) / predicted, 1, 1e-6);
      least = std::min(least, predicted);
      most = std::max(most, predicted);
    }
    EXPECT_LT(most / least, 1.35) << kind;
  }
}

/// Draws a slow link, a slow host, both, or two slow links.
void draw_unlike(Fleet& fleet, Rng& rng) {
  const auto n = static_cast<PeerId>(fleet.size());
  fleet.network = {.latency = milliseconds(1 + rng.below(10)), .bandwidth = 1e6};
  const auto slow = [&](PeerId a, PeerId b) {
    for (const auto& link : {std::pair{a, b}, {b, a}})
      fleet.network.links[link] = {.latency = milliseconds(20 + rng.below(40)), .bandwidth = 2e5};
  };
  const std::uint64_t what = rng.below(4);
  const auto one = static_cast<PeerId>(rng.below(n));
  if (what == 0 || what == 2)
    for (PeerId other = 0; other < n + 2; ++other) slow(one, other);
  if (what == 1 || what == 2) fleet.peers[rng.below(n)].speed = 0.1;
  if (what == 3) slow(one, (one + 1) % n), slow((one + 2) % n, (one + 3) % n);
  fleet.flops = 1e6;
}

class UnlikeMachines : public testing::TestWithParam<std::uint64_t> {};

TEST_P(UnlikeMachines, RoundsOfEveryMethodTakeWhatIsPredicted) {
  Rng rng(54 + GetParam());
  for (const AlgorithmRow* row : algorithms()) {
    SCOPED_TRACE(name_of(*row));
    Fleet fleet = row_fleet(*row);
    fleet.data.quadratic.dimension = 500;
    draw_unlike(fleet, rng);
    fleet.stop.rounds = 96;
    const double predicted = predict_round(Assembly(fleet)).seconds_per_round;
    const double simulated =
        row->synchronous ? simulated_round(fleet, 48) : simulated_seconds(fleet, 96) / 96;
    // ProxSkip draws the rounds with an exchange, so few rounds are only a sample.
    EXPECT_NEAR(simulated / predicted, 1, row->kind == "proxskip" ? 0.2 : 0.05);
  }
}
INSTANTIATE_TEST_SUITE_P(Fast, UnlikeMachines, testing::Values(0, 1));
INSTANTIATE_TEST_SUITE_P(Slow, UnlikeMachines, testing::Range<std::uint64_t>(2, 10));

/// Each row has a prediction, by a closed form or a dry run, of a round's virtual seconds and of
/// the bytes that the busiest peer sends in it.
TEST(NetworkModel, KnowsWhatARoundOfEveryMethodCosts) {
  for (const AlgorithmRow* row : algorithms()) {
    SCOPED_TRACE(name_of(*row));
    Fleet fleet = row_fleet(*row);
    fleet.network = network_of(NetworkShape::per_nic);
    fleet.network.bandwidth = 1e6;
    const RoundPrediction predicted = predict_round(Assembly(fleet));
    EXPECT_GT(predicted.seconds_per_round, 0);
    EXPECT_GE(predicted.network_seconds(), 0);
    const bool talks = row->mixes || row->links != nullptr;
    EXPECT_EQ(predicted.bytes_per_round > 0, talks);
    EXPECT_EQ(predicted.network_seconds() > 0, talks);
    const double simulated =
        row->synchronous ? simulated_round(fleet, 96) : simulated_seconds(fleet, 12) / 12;
    EXPECT_NEAR(simulated / predicted.seconds_per_round, 1, 0.02);
  }
}

TEST(NetworkModel, ComputeCountsWhereTheOrderHasIt) {
  for (const char* order : {"lian", "atc", "cta", ""}) {
    Fleet fleet = small_fleet(8, "ring", order, NetworkShape::per_nic);
    fleet.flops = 1e6;  // a gradient takes about as long as the network
    fleet.peers[3].speed = 0.5;
    fleet.local_steps = *order != 0 ? 2 : 1;
    const RoundPrediction predicted = predict_round(Assembly(fleet));
    EXPECT_GT(predicted.compute_seconds, 0.01);
    EXPECT_NEAR(simulated_round(fleet) / predicted.seconds_per_round, 1, 0.02) << order;
  }
}

TEST(NetworkModel, OneSlowLinkHoldsTheRingUp) {
  for (const char* order : {"atc", ""}) {
    Fleet fleet = small_fleet(8, "ring", order, NetworkShape::per_nic);
    const double even = predict_round(Assembly(fleet)).seconds_per_round;
    fleet.network.links[{3, 4}] = {.latency = milliseconds(50), .bandwidth = 1e5};
    const double uneven = predict_round(Assembly(fleet)).seconds_per_round;
    EXPECT_GT(uneven, 1.5 * even);
    EXPECT_NEAR(simulated_round(fleet) / uneven, 1, 0.01) << order;
  }
}

TEST(NetworkModel, TheNetworkChangesNoBit) {
  const auto hash = [](const NetworkSpec& network) {
    Fleet fleet = quadratic_fleet(8, "ring", "d-psgd", "lian");
    fleet.data.quadratic.spread = 1;
    fleet.data.quadratic.dimension = 1000;
    fleet.stop.rounds = 30;
    fleet.network = network;
    const Assembly assembly(fleet);
    Observer observer(8, assembly.evaluator(), {});
    simulate(assembly, observer, {});
    return observer.params_hash();
  };
  NetworkSpec jittery = network_of(NetworkShape::per_nic);
  jittery.jitter = milliseconds(10);
  jittery.links[{0, 1}] = {.latency = milliseconds(300), .jitter = milliseconds(200)};
  EXPECT_EQ(hash({}), hash(network_of(NetworkShape::per_link)));
  EXPECT_EQ(hash({}), hash(network_of(NetworkShape::per_nic)));
  EXPECT_EQ(hash({}), hash(jittery));
}

}  // namespace
}  // namespace gv
