#include <algorithm>
#include <set>

#include <gtest/gtest.h>

#include "gossip/experience.h"
#include "peer/fleet/json/json.h"
#include "peer/fleet/read/algorithm_reader.h"
#include "peer/record/report/metrics.h"
#include "peer/runtime/views.h"
#include "tests/peer/fleet/first_problem.h"
#include "tests/peer/fleet/test_fleet.h"
#include "tests/peer/sim/injecting.h"
#include "tests/peer/sim/method_runs.h"
#include "tests/peer/wire/tcp/loopback_fleet.h"

// Fleets in which actors act for agents. Learners come first, then the method's servers, memories
// and actors.

namespace gv {
namespace {

using std::chrono::milliseconds;

Fleet with_actors(Fleet fleet, std::uint32_t memories, std::uint32_t actors) {
  fleet.data = {};
  fleet.data.kind = "environment";
  fleet.data.environment = "cartpole";
  fleet.agent = AgentSpec{.environment = "cartpole",
                          .steps = 2,
                          .n_step = 3,
                          .memory = 400,
                          .warm_up = 60,
                          .refresh = 20,
                          .priority = 0.6,
                          .explore = {.base = 0.4},
                          .step_seconds = 0.001,
                          .actors = actors,
                          .memories = memories,
                          .samples_per_insert = 4,
                          .model_every = 10};
  fleet.model = {"mlp", {{"hidden", Widths{16}}}};
  fleet.optimizer.lr = 0.02;
  fleet.weights = "metropolis";
  for (PeerSpec& peer : fleet.peers) peer.batch = 8;
  fleet.stop.rounds = 300;
  return fleet;
}

Fleet apex(PeerId learners, std::uint32_t memories, std::uint32_t actors) {
  return with_actors(quadratic_fleet(learners, "ring", "d-psgd", "lian"), memories, actors);
}

struct Ended {
  FleetRecord summary;
  std::string hash;
  SimulationResult result;
  std::map<PeerId, Report> finals;
};

Ended end_of(const Fleet& fleet, const SimulationOptions& options = {}) {
  const Assembly assembly(fleet);
  Observer observer(assembly.fleet.size(), assembly.evaluator(), {});
  observer.aim_at(assembly.aims());
  Ended ended;
  ended.result = simulate(assembly, observer, options);
  ended.summary = observer.summary().value();
  ended.hash = observer.params_hash();
  ended.finals = observer.finals();
  return ended;
}

TEST(Actors, StandBehindAllOthersOnTheMachinesOfTheirLearners) {
  Fleet fleet = apex(2, 2, 3);
  fleet.hosts = {{.name = "a"}, {.name = "b"}};
  fleet.peers[0].host = "a", fleet.peers[1].host = "b";
  fleet.peers[1].threads = 3;
  const Assembly assembly(fleet);
  EXPECT_EQ(assembly.fleet.size(), 7U);
  EXPECT_EQ(assembly.fleet.trainers(), 2U);
  EXPECT_EQ(assembly.fleet.peers[4].host, "a");
  EXPECT_EQ(assembly.fleet.peers[5].host, "b");
  EXPECT_EQ(assembly.fleet.peers[5].threads, 3);
  EXPECT_EQ(assembly.fleet.peers[6].host, "a");
  EXPECT_EQ(assembly.plan(0).links, (std::vector<PeerId>{2, 4, 6}));
  EXPECT_EQ(assembly.plan(3).links, (std::vector<PeerId>{1, 5}));
  EXPECT_EQ(assembly.plan(6).links, (std::vector<PeerId>{0, 2}));
  EXPECT_EQ(assembly.work_of(3), &remember);
  EXPECT_EQ(assembly.work_of(6), &act);
}

TEST(Actors, RepeatToTheBitInVirtualTime) {
  const Fleet fleet = apex(2, 2, 4);
  const std::string hash = end_of(fleet).hash;
  EXPECT_EQ(end_of(fleet).hash, hash);
  SimulationOptions one_thread;
  one_thread.threads = 1;
  EXPECT_EQ(end_of(fleet, one_thread).hash, hash);
  Fleet other = fleet;
  other.seed = 2;
  EXPECT_NE(end_of(other).hash, hash);
}

/// Methods that train on their own samples take none from a memory. Methods that wait for
/// neighbours while they train cannot wait for a memory. Methods that draw their number of
/// minibatches cannot announce the end. All can train agents that act themselves.
bool takes_no_minibatches(const AlgorithmRow& row) {
  return row.kind == "scaffold" || row.kind == "streaming-diloco" || row.kind == "eager-diloco" ||
         row.kind == "proxskip" || row.kind == "factored-diloco";
}

TEST(Actors, AreRefusedByMethodsThatTakeNoMinibatches) {
  std::size_t refused = 0;
  for (const AlgorithmRow* row : algorithms()) {
    if (!takes_no_minibatches(*row)) continue;
    EXPECT_EQ(agent_use(*row).objection, "") << row->kind;
    const Fleet fleet = with_actors(row_fleet(*row, 4), 2, 4);
    const std::string problem = first_problem([&] { const Assembly made(fleet); });
    EXPECT_NE(problem.find("or no `agent.actors`"), std::string::npos) << row->kind << problem;
    ++refused;
  }
  EXPECT_EQ(refused, 5U);
}

TEST(Actors, AllDoTheirRoundsUnderEveryRowThatTrainsAgents) {
  for (const AlgorithmRow* row : algorithms()) {
    if (!agent_use(*row).objection.empty() || takes_no_minibatches(*row)) continue;
    SCOPED_TRACE(std::string(row->kind) + " " + std::string(row->order));
    Fleet fleet = with_actors(row_fleet(*row, 4), 2, 4);
    if (row->kind != "sgp") fleet.weights = "lazy";
    fleet.stop.rounds = 40;
    fleet.evaluate_every = 10;
    const Ended ended = end_of(fleet);
    EXPECT_EQ(ended.result.broken_by, std::set<PeerId>{});
    EXPECT_EQ(ended.summary.round, 40U);
    for (PeerId i = 0; i < 4; ++i) EXPECT_EQ(ended.finals.at(i).round, 40U) << i;
    ASSERT_TRUE(ended.summary.experience);
    EXPECT_EQ(ended.summary.experience->actors, 4U);
  }
}

double ratio_of(const FleetRecord& record) {
  return record.experience->samples_per_insert().value_or(0);
}

/// The ratio holds at all relative speeds.
TEST(Actors, SamplesPerInsertHoldsWhateverTheSpeeds) {
  for (const double step_ms : {0.05, 1.0, 8.0}) {
    for (const bool unequal : {false, true}) {
      Fleet fleet = apex(2, 1, 4);
      fleet.agent->step_seconds = step_ms / 1000;
      fleet.stop.rounds = 1500;
      if (unequal) fleet.peers[1].speed = 8;
      fleet.flops = 1e8;
      const Ended ended = end_of(fleet);
      EXPECT_NEAR(ratio_of(ended.summary) / 4, 1, 0.02) << step_ms << " " << unequal;
    }
  }
}

TEST(Actors, WithoutALimitTheRatioIsThatOfTheMachines) {
  Fleet fleet = apex(1, 1, 1);
  fleet.agent->samples_per_insert = 0;
  fleet.agent->step_seconds = 0.01;
  fleet.network.latency = milliseconds(1);
  EXPECT_GT(ratio_of(end_of(fleet).summary), 12) << "one learner is faster than one actor";
}

TEST(Actors, TheirFramesAndMemoriesAreInTheMetrics) {
  Fleet fleet = apex(1, 1, 3);
  fleet.evaluate_every = 50;
  const Assembly assembly(fleet);
  std::vector<FleetRecord> records;
  Observer observer(assembly.fleet.size(), assembly.evaluator(),
                    [&](const FleetRecord& r) { records.push_back(r); });
  observer.aim_at(assembly.aims());
  simulate(assembly, observer, {});
  ASSERT_GE(records.size(), 6U) << "every evaluation is complete";
  const FleetRecord& end = *observer.summary();
  // 300 minibatches of 8, at 4 samples for each transition, after a warm-up of 60.
  EXPECT_NEAR(static_cast<double>(*end.frames), 60 + 300 * 8 / 4.0, 40);
  const JsonValue line = parse_json(evaluate_line(records[4]), "line");
  EXPECT_NEAR(json_number(line, "samples_per_insert"), 4, 0.3);
  EXPECT_EQ(json_number(line, "actors"), 3);
  EXPECT_EQ(json_number(line, "memory"), 400) << "as many as it keeps";
  const JsonValue summary = parse_json(summary_json(end, 0, 1, {}).dump(), "summary");
  EXPECT_NEAR(json_number(summary, "samples_per_insert"), 4, 0.2);
}

/// More actors do not reduce the rounds, but the seconds of acting.
TEST(Actors, DivideTheTimeOfActing) {
  const auto seconds = [](std::uint32_t actors) {
    const Ended ended = end_of(apex(1, 1, actors));
    return in_seconds(ended.result.virtual_time);
  };
  EXPECT_GT(seconds(1), 5 * seconds(8));
}

TEST(Actors, OverTcpTheFleetKeepsItsRatioToo) {
  Fleet fleet = apex(2, 2, 4);
  fleet.stop.rounds = 1000;
  const Assembly assembly(fleet);
  LoopbackFleet tcp(assembly);
  tcp.observer.aim_at(assembly.aims());
  tcp.run();
  EXPECT_EQ(tcp.log, "");
  ASSERT_TRUE(tcp.observer.summary());
  EXPECT_EQ(tcp.observer.summary()->round, 1000U);
  EXPECT_NEAR(ratio_of(*tcp.observer.summary()) / 4, 1, 0.02);
}

std::vector<Injection> killed(std::vector<PeerId> peers) {
  std::vector<Injection> all;
  for (const PeerId peer : peers)
    all.push_back({.at = milliseconds(200), .kind = Injection::Kind::kill, .peer = peer});
  return all;
}

TEST(Actors, MayDie) {
  const Fleet fleet = apex(2, 1, 4);  // 0 and 1 learn, 2 is the memory
  for (const auto& dead : std::vector<std::vector<PeerId>>{{3}, {3, 5}, {3, 4, 5, 6}}) {
    SCOPED_TRACE(dead.size());
    const Ended ended = end_of(fleet, injecting(killed(dead)));
    EXPECT_EQ(ended.result.violations, std::vector<std::string>{});
    EXPECT_EQ(ended.result.lost, dead);
    EXPECT_EQ(ended.result.broken_by, std::set<PeerId>{});
    for (const PeerId i : {0U, 1U}) EXPECT_EQ(ended.finals.at(i).round, 300U) << i;
  }
}

/// Each chunk is taken once: the memory has all steps, except those that wait for later ones and
/// two chunks under way.
TEST(Actors, LoseNothingAndRepeatNothingUnderCuts) {
  Fleet fleet = apex(1, 1, 2);  // 1 is the memory
  fleet.agent->memory = 100'000;
  std::vector<Injection> cuts;
  for (int k = 1; k < 12; ++k)
    cuts.push_back({.at = milliseconds(37 * k),
                    .kind = Injection::Kind::cut,
                    .peer = k % 2 == 0 ? 2U : 3U,
                    .other = 1,
                    .length = milliseconds(30)});
  const Ended ended = end_of(fleet, injecting(cuts));
  EXPECT_EQ(ended.result.violations, std::vector<std::string>{});
  EXPECT_TRUE(ended.result.whole());
  const std::uint64_t acted = *ended.summary.frames, kept = ended.summary.experience->kept;
  EXPECT_LE(kept, acted);
  EXPECT_GE(kept + 2 * (2 + 2 * 5), acted);
}

TEST(Actors, AMemorysDeathEndsItsOwnLearnersAlone) {
  const Fleet fleet = apex(2, 2, 4);  // 2 is the memory of 0, and 3 of 1
  const Ended ended = end_of(fleet, injecting(killed({3})));
  EXPECT_EQ(ended.finals.at(0).round, 300U);
  EXPECT_LT(ended.finals.at(1).round, 300U);
  EXPECT_TRUE(ended.result.broken_by.contains(3));
}

/// `run` once stopped all peers when one of several memories had died.
TEST(Actors, OthersDoWithoutOneOfSeveralMemories) {
  const Assembly two(apex(2, 2, 4));
  for (PeerId i = 0; i < two.fleet.size(); ++i)
    EXPECT_EQ(does_without_supplier(two, i), i == 2 || i == 3) << i;
  EXPECT_FALSE(does_without_supplier(Assembly(apex(2, 1, 4)), 2)) << "all learn from this one";
  const Fleet all = quadratic_fleet(2, "ring", "all-reduce", "ring");
  EXPECT_FALSE(does_without_supplier(Assembly(with_actors(all, 2, 4)), 3)) << "it needs all";
}

/// The new process once found no actors, because these had ended with the old one. It ended too,
/// and so did the learners that had waited for it.
TEST(Actors, GoOnWithWhoTakesTheirMemorysPlace) {
  for (const std::uint32_t memories : {1U, 2U}) {
    SCOPED_TRACE(memories);
    Fleet fleet = apex(2, memories, 4);
    fleet.restart = true;
    SimulationOptions options = injecting(killed({1 + memories}));  // the last memory
    options.faults->restart = true;
    const Ended ended = end_of(fleet, options);
    EXPECT_EQ(ended.result.violations, std::vector<std::string>{});
    EXPECT_TRUE(ended.result.whole());
    for (const PeerId i : {0U, 1U}) EXPECT_EQ(ended.finals.at(i).round, 300U) << i;
    EXPECT_EQ(ended.summary.experience->actors, 4U);
    EXPECT_NEAR(ratio_of(ended.summary) / 4, 1, 0.05) << "limited, and not for want of actors";
  }
}

TEST(Actors, MemoriesGoOnWithWhoTakesTheirLearnersPlace) {
  for (const PeerId learners : {1U, 2U}) {
    SCOPED_TRACE(learners);
    Fleet fleet = apex(learners, learners, 4);  // each memory has one learner
    fleet.restart = true;
    SimulationOptions options = injecting(killed({0}));
    options.faults->restart = true;
    const Ended ended = end_of(fleet, options);
    EXPECT_EQ(ended.result.violations, std::vector<std::string>{});
    EXPECT_TRUE(ended.result.whole());
    for (PeerId i = 0; i < learners; ++i) EXPECT_EQ(ended.finals.at(i).round, 300U) << i;
    EXPECT_EQ(ended.summary.experience->actors, 4U);
    EXPECT_GE(ended.summary.experience->kept, 390U) << "the old ones are there";
  }
}

TEST(Actors, ALearnersDeathEndsItsActorsAlone) {
  const Fleet fleet = apex(2, 1, 4);
  const Ended ended = end_of(fleet, injecting(killed({1})));
  EXPECT_EQ(ended.result.violations, std::vector<std::string>{});
  EXPECT_EQ(ended.finals.at(0).round, 300U);
  EXPECT_GE(ended.finals.at(3).round, 290U) << "learner 0's";
  EXPECT_LT(ended.finals.at(4).round, 280U) << "learner 1's";
}

TEST(Actors, LearnersGoOnFromACheckpointAndMemoriesBeginEmpty) {
  Fleet fleet = apex(2, 1, 4);
  fleet.checkpoint.every = 100;
  const Assembly assembly(fleet);
  std::map<Round, std::vector<Checkpoint>> kept;
  SimulationOptions options;
  options.threads = 1;
  options.on_store = [&](PeerId i, Round round, std::vector<std::byte> state) {
    kept[round].push_back({"", "", i, round, std::move(state)});
  };
  Observer whole(assembly.fleet.size(), assembly.evaluator(), {});
  simulate(assembly, whole, options);
  ASSERT_EQ(kept.at(100).size(), assembly.fleet.size());
  options.on_store = {};
  options.resume = kept.at(100);
  Observer rest(assembly.fleet.size(), assembly.evaluator(), {});
  EXPECT_TRUE(simulate(assembly, rest, options).whole());
  EXPECT_EQ(rest.summary()->round, 300U);
}

}  // namespace
}  // namespace gv
