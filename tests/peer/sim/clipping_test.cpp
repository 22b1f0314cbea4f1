#include <cmath>

#include <gtest/gtest.h>

#include "gossip/steps/attack.h"
#include "peer/fleet/fleet_setup.h"
#include "peer/record/report/warnings.h"
#include "peer/sim/swarm.h"
#include "tests/peer/sim/method_runs.h"

// Fleets that clip the flows of neighbours that are too far away (gossip/exchange/clipping.h).

namespace gv {
namespace {

/// Returns eight peers that learn digits. The last one may lie.
Fleet digits(const std::string& lie, double strength, std::optional<double> clip) {
  Fleet fleet = quadratic_fleet(8, "ring", "d-psgd", "lian");
  fleet.data = {};
  fleet.data.kind = "digits";
  fleet.data.train = 4000;
  fleet.data.test = 1000;
  fleet.model.kind = "mlp";
  fleet.model.values = {{"hidden", Widths{32}}};
  fleet.optimizer.lr = 0.1;
  fleet.optimizer.momentum = 0.9;
  fleet.optimizer.schedule.kind = "cosine";
  for (PeerSpec& peer : fleet.peers) peer.batch = 32;
  fleet.stop.rounds = 400;
  fleet.clip = clip;
  if (!lie.empty()) fleet.attackers = {.count = 1, .kind = lie, .strength = strength};
  return fleet;
}

struct Learnt {
  double accuracy = 0;  ///< that of the worst honest peer, in percent
  double model = 0;     ///< that of the fleet's model
  std::vector<ClippedPeer> clipped;
};

Learnt learn(const Fleet& fleet) {
  const Assembly assembly(fleet);
  Observer observer(assembly.fleet.size(), assembly.evaluator(), {});
  simulate(assembly, observer, SimulationOptions());
  const FleetRecord& end = *observer.summary();
  return {100 * end.accuracy_min.value_or(0), 100 * end.mean.accuracy.value_or(0),
          clipped_peers(end.clipped)};
}

struct Lie {
  const char* kind;
  double strength;
};
class Lies : public testing::TestWithParam<Lie> {};

TEST_P(Lies, CostThreePointsAtTheMostAndAreNamed) {
  const auto [kind, strength] = GetParam();
  const double honest = learn(digits("", 1, {})).accuracy;
  ASSERT_GT(honest, 85);
  const Learnt clipping = learn(digits(kind, strength, 0));
  EXPECT_GE(clipping.accuracy, honest - 3);
  ASSERT_FALSE(clipping.clipped.empty());
  EXPECT_EQ(clipping.clipped[0].peer, 7U) << "who lies stands first";
  EXPECT_GT(clipping.clipped[0].far, 0U);
  EXPECT_EQ(clipping.clipped[0].by, (std::vector<PeerId>{0, 6}));
  EXPECT_LT(learn(digits(kind, strength, {})).accuracy, honest - 10) << "without clipping";
  RecordProperty("honest", std::to_string(honest));
  RecordProperty("clipping", std::to_string(clipping.accuracy));
}

INSTANTIATE_TEST_SUITE_P(Planted,
                         Lies,
                         testing::Values(Lie{"constant", 1e30},
                                         Lie{"once", 1e6},
                                         Lie{"sign-flip", 4}),
                         [](const auto& row) {
                           std::string name = row.param.kind;
                           std::erase(name, '-');
                           return name;
                         });

TEST(Clipping, LeavesHonestPeersAlone) {
  const double plain = learn(digits("", 1, {})).accuracy;
  const Learnt clipping = learn(digits("", 1, 0));
  EXPECT_NEAR(clipping.accuracy, plain, 1.5);
  for (const ClippedPeer& peer : clipping.clipped) EXPECT_EQ(peer.far, 0U) << peer.peer;
}

/// A stale model stays near and holds the others at their start. One that stays a few steps aside
/// is within ten bounds. Both liars are named, but not honest peers with two classes each, whose
/// models also differ much.
TEST(Clipping, TellsLiarsFromPeersWithOtherData) {
  for (const auto& [kind, strength] :
       std::vector<std::pair<const char*, double>>{{"stale", 1}, {"aside", 25}, {"", 0}}) {
    SCOPED_TRACE(kind);
    Fleet fleet = digits(kind, strength, 0);
    fleet.data.partition.kind = "by-label";
    const Learnt learnt = learn(fleet);
    for (const ClippedPeer& peer : learnt.clipped)
      EXPECT_EQ(peer.far + peer.still > 0, peer.peer == 7 && strength > 0) << peer.peer;
    EXPECT_EQ(learnt.clipped.empty() ? 0 : learnt.clipped[0].peer, strength > 0 ? 7U : 0U);
  }
}

/// One gradient of 1e6, and gradients of opposite sign: in a sum over all peers each counts for at
/// most twice the median, and its peer is named.
TEST(Clipping, OfSumsKeepsOneGradientFromRuiningThem) {
  for (const char* algorithm : {"all-reduce", "local-sgd", "gossip-pga", "parameter-server"}) {
    SCOPED_TRACE(algorithm);
    const auto with = [&](const char* kind, double strength, std::optional<double> clip) {
      Fleet fleet = digits(kind, strength, clip);
      fleet.algorithm = algorithm;
      fleet.order = find_algorithm(algorithm, "")->order;
      add_servers(fleet);
      return learn(fleet);
    };
    const double honest = with("", 1, {}).model;
    const Learnt clipped = with("gradient-once", 1e6, 0);
    EXPECT_GE(clipped.model, honest - 3) << "an eighth of the data is missing";
    ASSERT_FALSE(clipped.clipped.empty());
    EXPECT_EQ(clipped.clipped[0].peer, 7U);
    EXPECT_LT(with("gradient-once", 1e6, {}).model, honest - 10) << "without clipping";
  }
}

/// If all neighbours are within the bound, no bit changes.
TEST(Clipping, OfNothingChangesNoBit) {
  for (const char* order : {"lian", "atc", "cta"}) {
    Fleet fleet = restless(6, "d-psgd", order);
    const std::string plain = run(fleet).hash;
    fleet.clip = 1e6;
    EXPECT_EQ(run(fleet).hash, plain) << order;
    fleet.clip = 0.01;
    EXPECT_NE(run(fleet).hash, plain) << order;
  }
}

/// A flow has the length of weight times bound, and the other end's flow is its opposite.
TEST(Clipping, BoundsWhatAFlowMoves) {
  Fleet fleet = quadratic_fleet(2, "path", "d-psgd", "atc");
  fleet.data.quadratic.dimension = 1;
  fleet.optimizer.lr = 0;
  fleet.clip = 0.5;
  fleet.stop.rounds = 1;
  const Values x = first_coordinates(run(fleet, {0, 100}));
  EXPECT_NEAR(x[0], 0.25, 1e-6) << "w = 1/2";
  EXPECT_NEAR(x[1], 99.75, 1e-4);
}

TEST(Clipping, GoesOnFromACheckpointToTheBit) {
  for (const char* order : {"lian", "atc"}) {
    Fleet fleet = restless(6, "d-psgd", order);
    fleet.clip = 0;
    expect_it_resumes(fleet);
  }
  Fleet fleet = restless(6, "d-psgd", "cta");
  fleet.local_steps = 3;
  fleet.clip = 0;
  expect_it_resumes(fleet);
  fleet = restless(6, "quasi-global-momentum");
  fleet.clip = 0;
  expect_it_resumes(fleet);
}

/// A gradient that is not a number does not count, and one is enough to name its peer.
TEST(Clipping, WhoGivesServersNoNumberIsNamed) {
  for (const auto& [algorithm, order] : std::vector<std::pair<std::string, std::string>>{
           {"parameter-server", "sync"}, {"parameter-server", "async"}, {"flexrr", ""}}) {
    SCOPED_TRACE(algorithm + " " + order);
    Fleet fleet = digits("gradient-nan", 1, 0);
    fleet.algorithm = algorithm;
    fleet.order = order;
    fleet.stop.rounds = 60;
    const std::vector<ClippedPeer> clipped = learn(fleet).clipped;
    std::vector<PeerId> named;
    for (const ClippedPeer& each : clipped)
      if (each.far > 0) named.push_back(each.peer);
    EXPECT_EQ(named, std::vector<PeerId>{7});
  }
}

TEST(Clipping, IsRefusedWhereFlowsAreMoreThanDistances) {
  for (const char* algorithm : {"d2",
                                "extra",
                                "nids",
                                "led",
                                "gradient-tracking",
                                "aug-dgm",
                                "momentum-tracking",
                                "beer",
                                "motef",
                                "gt-adam",
                                "gut",
                                "proxskip",
                                "sparta",
                                "k-gt",
                                "noloco",
                                "factored-diloco",
                                "choco-sgd",
                                "deep-squeeze",
                                "clipped-gossip",
                                "robust-gossip",
                                "sgp",
                                "relay-sgd",
                                "ad-psgd"}) {
    const AlgorithmRow& row = *find_algorithm(algorithm, "");
    EXPECT_NE(objection_to_clipping(row, setup_of(quadratic_fleet(6, "ring", algorithm, ""))), "")
        << algorithm;
  }
  for (const char* algorithm : {"d-psgd", "quasi-global-momentum", "decentlam", "all-reduce",
                                "local-sgd", "slowmo", "gossip-pga", "parameter-server", "easgd",
                                "fedavg", "decoupled-diloco", "async-diloco", "scaffold"}) {
    const AlgorithmRow& row = *find_algorithm(algorithm, "");
    EXPECT_EQ(objection_to_clipping(row, setup_of(quadratic_fleet(6, "ring", algorithm, ""))), "")
        << algorithm;
  }
  Fleet directed = quadratic_fleet(8, "exponential", "d-psgd", "atc");
  directed.clip = 0;
  EXPECT_NE(refusal(directed).find("clipping needs edges that carry messages both ways"),
            std::string::npos)
      << refusal(directed);
}

/// Peers die, restart from a checkpoint, from a neighbour's model or from nothing, come late and
/// lie, also about their bounds. The ends of every edge must have the same two bounds and opposite
/// flows, and the mean must be that of the steps.
TEST(Clipping, KeepsTheMeanWhateverBecomesOfAnEdge) {
  for (const auto& [graph, order] : std::vector<std::pair<const char*, const char*>>{
           {"ring", "lian"}, {"complete", "atc"}, {"base:k=1", "cta"}}) {
    SCOPED_TRACE(graph);
    Fleet file = restless_fleet(6, graph, order);
    file.clip = 0;
    const Assembly fleet(file);
    SwarmOptions options;
    options.last = 500;
    const SwarmResult result = swarm(fleet, options);
    EXPECT_TRUE(result.texts.empty()) << result.texts[0];
    EXPECT_LT(result.largest_drift, 1e-5);
    EXPECT_GE(result.faults[static_cast<std::size_t>(Fault::lie)], 20U);
    EXPECT_GE(result.probes[static_cast<std::size_t>(Probe::replaced)], 20U);
  }
}

}  // namespace
}  // namespace gv
