#include <fstream>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "peer/fleet/specs.h"
#include "peer/sim/simulation.h"
#include "peer/study/simulated_run.h"
#include "tests/peer/fleet/test_fleet.h"
#include "tests/peer/sim/injecting.h"
#include "tests/scratch_folder.h"

namespace gv {
namespace {

using std::chrono::milliseconds;
using Kind = Injection::Kind;

/// Returns the first error in a file with these faults, for a fleet of four in a ring.
std::string complaint(const std::string& inject) {
  const ScratchFolder folder;
  const std::string path = folder.path() + "/fleet.yaml";
  std::ofstream(path) << "version: 1\npeers: 4\ndata: quadratic\nstop: { rounds: 10 }\n"
                      << "faults: { inject: " << inject << " }\n";
  try {
    const Assembly fleet(read_fleet(path, {}, nullptr));
  } catch (const FleetError& e) {
    return e.diagnostics().front().message;
  }
  return "";
}

TEST(Injection, IsReadStrictly) {
  EXPECT_EQ(
      complaint("[{ at: 1 s, kill: 3 }, { at: 2 s, start: 3 }, { at: 1 s, stop: 0, for: 1 s },"
                " { at: 0 s, cut: [1, 2], for: 10 s }]"),
      "");
  EXPECT_EQ(complaint("[{ kill: 3 }]"), "missing key `at`");
  EXPECT_EQ(complaint("[{ at: 1 s }]"), "expected one of kill, start, stop and cut");
  EXPECT_EQ(complaint("[{ at: 1 s, kill: 1, start: 1 }]"),
            "expected one of kill, start, stop and cut");
  EXPECT_EQ(complaint("[{ at: 1 s, kill: 4 }]"), "4 is out of range: 0 to 3");
  EXPECT_EQ(complaint("[{ at: 1 s, stop: 1 }]"), "missing key `for`: how long it lasts");
  EXPECT_EQ(complaint("[{ at: 1 s, kill: 1, for: 1 s }]"), "only `stop` and `cut` last for a time");
  EXPECT_EQ(complaint("[{ at: 1 s, cut: 1, for: 1 s }]"),
            "expected two peers, such as `cut: [1, 2]`");
  EXPECT_EQ(complaint("[{ at: 1 s, cut: [1, 1], for: 1 s }]"), "peer 1 has no link with itself");
  EXPECT_EQ(complaint("[{ at: 1 s, cut: [0, 2], for: 1 s }]"),
            "peers 0 and 2 are not linked: there is nothing to cut");
  EXPECT_EQ(complaint("yes"), "expected a list of faults");
}

/// A run of 200 rounds, which takes 65 ms.
struct Injected : testing::Test {
  SimulationResult run(std::vector<Injection> faults) {
    SimulationResult result = simulate(fleet, observer, injecting(std::move(faults)));
    EXPECT_EQ(result.violations, std::vector<std::string>{});
    return result;
  }
  Assembly fleet{restless_fleet(6, "ring", "lian")};
  Observer observer{6, fleet.evaluator(), {}};
};

TEST_F(Injected, NothingChangesNoBit) {
  run({});
  Observer undisturbed(6, fleet.evaluator(), {});
  simulate(fleet, undisturbed, {});
  EXPECT_EQ(observer.params_hash(), undisturbed.params_hash());
}

TEST_F(Injected, AKilledPeerIsLost) {
  const SimulationResult result = run({{.at = milliseconds(50), .kind = Kind::kill, .peer = 3}});
  EXPECT_EQ(result.lost, std::vector<PeerId>{3});
  ASSERT_TRUE(observer.summary());
  EXPECT_EQ(observer.summary()->peers, 5U);
}

TEST_F(Injected, AnotherProcessTakesItsPlace) {
  const SimulationResult result = run({{.at = milliseconds(25), .kind = Kind::kill, .peer = 3},
                                       {.at = milliseconds(45), .kind = Kind::start, .peer = 3}});
  EXPECT_EQ(result.lost, std::vector<PeerId>{});
  ASSERT_TRUE(observer.summary());
  EXPECT_EQ(observer.summary()->peers, 6U);
  EXPECT_GT(observer.summary()->passed_over.at(3), 10U) << "it was away for 20 ms";
}

/// A peer that was away for a third of the run has sent two thirds of the others' bytes. The counts
/// from its first process stay.
TEST(Injection, WhatADeadProcessToldCountsOn) {
  Fleet file = restless_fleet(6, "ring", "lian");
  file.evaluate_every = 5;
  const Assembly fleet(file);
  Observer observer(6, fleet.evaluator(), {});
  simulate(fleet, observer,
           injecting({{.at = milliseconds(25), .kind = Kind::kill, .peer = 3},
                      {.at = milliseconds(45), .kind = Kind::start, .peer = 3}}));
  const Report& undisturbed = observer.finals().at(0);
  const Report& restarted = observer.finals().at(3);
  EXPECT_GT(2 * restarted.costs.sent_bytes, undisturbed.costs.sent_bytes);
  EXPECT_LT(restarted.costs.sent_bytes, undisturbed.costs.sent_bytes);
  EXPECT_GT(2 * restarted.costs.spent.total(), undisturbed.costs.spent.total());
}

TEST_F(Injected, WhoStandsStillHoldsUpItsNeighboursUntilItCountsAsDead) {
  run({{.at = milliseconds(50), .kind = Kind::stop, .peer = 2, .length = milliseconds(100)}});
  EXPECT_GT(observer.summary()->longest_wait.at(1), milliseconds(35));
  EXPECT_LT(observer.summary()->longest_wait.at(1), milliseconds(70));
}

/// In a real fleet, a peer that was cut off for a tenth of the run finished long before the others,
/// because rounds alone do not wait for the network.
TEST(Injection, WhoIsCutOffDoesNotRunAhead) {
  Fleet file = restless_fleet(6, "ring", "lian");
  file.network.latency = milliseconds(5);  // a round takes little else
  file.flops = 1e9;
  const Assembly fleet(file);
  Observer observer(6, fleet.evaluator(), {});
  SimulationOptions options = injecting({{milliseconds(200), Kind::cut, 0, 1, milliseconds(400)},
                                         {milliseconds(200), Kind::cut, 0, 5, milliseconds(400)}});
  Time last{0};
  options.on_progress = [&](Round round, Time now) {  // for peer 0
    if (round == 150) last = now;
  };
  EXPECT_EQ(simulate(fleet, observer, options).violations, std::vector<std::string>{});
  EXPECT_GT(last, milliseconds(150 * 5 * 4 / 5));
}

/// If the middle of a path died at 0 s, the ends had not met it, began alone, and the simulation
/// had no final record. A real fleet meets before any fault.
TEST(Injection, AFleetHasMetBeforeTheFirstFault) {
  const Assembly fleet(restless_fleet(3, "path", "lian"));
  Observer observer(3, fleet.evaluator(), {});
  const SimulationResult result =
      simulate(fleet, observer, injecting({{.at = Time{0}, .kind = Kind::kill, .peer = 1}}));
  EXPECT_EQ(result.violations, std::vector<std::string>{});
  EXPECT_EQ(result.lost, std::vector<PeerId>{1});
  ASSERT_TRUE(observer.summary());
  EXPECT_EQ(observer.summary()->peers, 2U);
  EXPECT_EQ(observer.summary()->round, 200U);
}

TEST(Injection, WhereEverybodyDiesThereIsNoFinalRecord) {
  const Assembly fleet(restless_fleet(3, "path", "lian"));
  Observer observer(3, fleet.evaluator(), {});
  const SimulationResult result =
      simulate(fleet, observer,
               injecting({{.at = Time{0}, .kind = Kind::kill, .peer = 0},
                          {.at = Time{0}, .kind = Kind::kill, .peer = 1},
                          {.at = Time{0}, .kind = Kind::kill, .peer = 2}}));
  EXPECT_EQ(result.lost, (std::vector<PeerId>{0, 1, 2}));
  EXPECT_FALSE(observer.summary());
}

/// Each row is judged by its own promise. ad-psgd, whose pairs average by messages, was once
/// reported to drift without any fault.
TEST(Injection, AFaultThatNeverComesIsNoViolationInAnyRow) {
  for (const AlgorithmRow* row : algorithms()) {
    SCOPED_TRACE(name_of(*row));
    Fleet file = row_fleet(*row);
    file.faults.inject.push_back({.at = std::chrono::hours(1), .kind = Kind::kill, .peer = 1});
    const Assembly fleet(file);
    Observer observer(fleet.fleet.size(), fleet.evaluator(), {});
    SimulationOptions options;
    options.threads = 1;
    options.faults = injected_faults(fleet);
    const SimulationResult result = simulate(fleet, observer, options);
    EXPECT_EQ(result.violations, std::vector<std::string>{});
    EXPECT_EQ(result.lost, std::vector<PeerId>{});
  }
}

/// In a real fleet, two peers had done only one round in company, in which the third stood still.
/// After its death they continued equally slowly to the end.
TEST(Injection, WhoIsAloneForgetsARoundThatOneHeldUp) {
  const Assembly fleet(restless_fleet(3, "path", "lian"));
  Observer observer(3, fleet.evaluator(), {});
  const SimulationResult result = simulate(
      fleet, observer,
      injecting({{.at = Time{0}, .kind = Kind::stop, .peer = 1, .length = milliseconds(35)},
                 {.at = milliseconds(40), .kind = Kind::kill, .peer = 1}}));
  EXPECT_EQ(result.lost, std::vector<PeerId>{1});
  EXPECT_LT(result.virtual_time, milliseconds(1000)) << "200 rounds of 35 ms take 7 s";
}

/// Returns a fleet of unlike data in which a round takes 8 ms, for about 32 s. Many dimensions
/// make its distance between models a figure that noise moves little.
Fleet unlike_fleet(const std::string& topology, const std::string& method, PeerId peers) {
  const std::string weights = method == "sgp" ? "push-sum" : method == "d2" ? "lazy" : "metropolis";
  return read_fleet_text(fmt::format(
      "version: 1\npeers: {}\nalgorithm: {}\ntopology: {{ kind: {}, weights: {} }}\n"
      "data: {{ kind: quadratic, dimension: 256, noise: 0.25, spread: 0.25, start: 0 }}\n"
      "train: {{ optimizer: {{ kind: sgd, lr: 0.02 }}, batch: 16 }}\n"
      "network: {{ latency: 8 ms, bandwidth: 1 Gbit }}\nsimulate: {{ flops: 1 GFLOP/s }}\n"
      "stop: {{ rounds: 4000 }}\ncheckpoint: {{ every: 50 rounds }}\n"
      "faults: {{ deadline: 1 s }}\n",
      peers, method, topology, weights));
}

Fleet unlike_ring(const std::string& method, PeerId peers) {
  return unlike_fleet("ring", method, peers);
}

/// Draws up to three cuts that overlap and, in some fleets, a peer that dies and has a successor.
std::vector<Injection> overlapping_accidents(Rng& rng, PeerId peers) {
  const auto ms = [&rng](std::uint64_t least, std::uint64_t most) {
    return milliseconds(least + rng.below(most - least));
  };
  std::vector<Injection> faults;
  for (std::uint64_t k = 0; k <= rng.below(3); ++k) {
    const auto a = static_cast<PeerId>(rng.below(peers));
    faults.push_back({ms(3000, 5000), Kind::cut, a, (a + 1) % peers, ms(1000, 6000)});
  }
  if (rng.below(2) == 0) return faults;
  const auto dies = static_cast<PeerId>(rng.below(peers));
  faults.push_back({.at = ms(5000, 5500), .kind = Kind::kill, .peer = dies});
  faults.push_back({.at = ms(6000, 10000), .kind = Kind::start, .peer = dies});
  return faults;
}

FleetRecord end_of(const Assembly& fleet, std::vector<Injection> faults) {
  Observer observer(fleet.fleet.size(), fleet.evaluator(), {});
  const SimulationResult result = simulate(fleet, observer, injecting(std::move(faults)));
  EXPECT_EQ(result.violations, std::vector<std::string>{});
  return observer.summary().value();
}

/// A peer that had done hundreds of rounds alone ended as many rounds before the others, which then
/// trained without its data: the loss was up to 30 times that of the undisturbed fleet, the
/// distance between models up to 600 times, without a word.
TEST(Injection, WhoWasAloneMakesUpForItsRoundsBeforeItEnds) {
  Rng rng(1);
  for (const char* method : {"d-psgd", "gradient-tracking", "choco-sgd", "sgp"})
    for (int k = 0; k < 4; ++k) {
      const auto peers = static_cast<PeerId>(4 + rng.below(3));
      SCOPED_TRACE(fmt::format("{} {} of {} peers", method, k, peers));
      const Assembly fleet(unlike_ring(method, peers));
      const FleetRecord calm = end_of(fleet, {});
      const FleetRecord disturbed = end_of(fleet, overlapping_accidents(rng, peers));
      EXPECT_EQ(disturbed.peers, peers);
      EXPECT_LT(disturbed.consensus, 2 * calm.consensus);
      EXPECT_LT(disturbed.mean.loss, calm.mean.loss + 0.03);
    }
}

/// A peer whose other link was cut believed no clock of the only neighbour that it had, since the
/// absent one might have known better. So it answered hundreds of rounds late, twice as fast as the
/// fleet, which waited for each of its answers.
TEST(Injection, WhoReturnsBesideACutLinkIsInTheFleetsRoundAtOnce) {
  for (const char* method : {"d-psgd", "d2", "decentlam", "noloco"}) {
    SCOPED_TRACE(method);
    const Assembly fleet(unlike_ring(method, 6));
    const Injection cut{.at = milliseconds(2800),
                        .kind = Kind::cut,
                        .peer = 4,
                        .other = 5,
                        .length = milliseconds(6000)};
    const Injection kill{.at = milliseconds(3000), .kind = Kind::kill, .peer = 5};
    const Injection start{.at = milliseconds(4000), .kind = Kind::start, .peer = 5};
    const FleetRecord dead = end_of(fleet, {cut, kill});
    const FleetRecord back = end_of(fleet, {cut, kill, start});
    EXPECT_TRUE(back.sound());
    EXPECT_EQ(back.peers, 6U);
    EXPECT_LT(back.time, dead.time + std::chrono::seconds(1));
  }
}

/// A peer whose two links had been cut believed its first neighbour six rounds at a time. The whole
/// fleet waited until it had done all the rounds that it had missed, alone and in no time.
TEST(Injection, WhoWasAloneIsInTheFleetsRoundAtOnce) {
  const auto cut = [](PeerId a, PeerId b, int at, int length) {
    return Injection{.at = milliseconds(at),
                     .kind = Kind::cut,
                     .peer = a,
                     .other = b,
                     .length = milliseconds(length)};
  };
  struct Case {
    const char *topology, *method;
    PeerId peers;
    std::vector<Injection> cuts;
  };
  const std::vector<Injection> of_eight{cut(1, 2, 2613, 4880), cut(2, 3, 4700, 3660)};
  const std::vector<Case> cases{
      {"ring", "sgp", 6, {cut(1, 2, 2872, 3780), cut(0, 1, 3260, 4420)}},
      {"path", "sgp", 4, {cut(1, 2, 1578, 2910), cut(0, 1, 2406, 4910)}},
      {"path", "sgp", 8, of_eight},
      {"path", "relay-sgd", 4, {cut(2, 3, 3898, 5360), cut(1, 2, 4390, 5600)}},
      {"path", "relay-sgd", 8, of_eight},
  };
  for (const Case& each : cases) {
    SCOPED_TRACE(fmt::format("{} on a {} of {}", each.method, each.topology, each.peers));
    const Assembly fleet(unlike_fleet(each.topology, each.method, each.peers));
    const FleetRecord calm = end_of(fleet, {});
    const FleetRecord disturbed = end_of(fleet, each.cuts);
    EXPECT_TRUE(disturbed.sound());
    EXPECT_EQ(disturbed.peers, each.peers);
    EXPECT_LT(disturbed.time, calm.time + milliseconds(2200)) << "two deadlines";
    EXPECT_LT(disturbed.consensus, 2 * calm.consensus);
  }
}

}  // namespace
}  // namespace gv
