#include <map>
#include <mutex>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "peer/runtime/assembly/assembly.h"
#include "peer/runtime/ledger.h"
#include "peer/sim/simulation.h"
#include "tests/peer/fleet/test_fleet.h"

namespace gv {
namespace {

using std::chrono::milliseconds;

struct Lives {
  std::map<PeerId, LifeDone> of;
  std::map<PeerId, std::vector<RoundRow>> rows;
  std::uint64_t exchanges = 0;  ///< settled ones, over all peers
  std::string hash;
  FleetRecord end;
};

/// Returns the time spent by the peers of a fleet. `records` requests the record.
Lives live(const Fleet& file, bool records = true) {
  const Assembly fleet(file);
  Lives lives;
  std::mutex lock;
  Observer observer(fleet.fleet.size(), fleet.evaluator(), {});
  SimulationOptions options;
  if (records)
    options.on_life = [&](const Recorder& recorder, std::uint64_t) {
      const std::lock_guard hold(lock);
      lives.of[recorder.peer()] = *recorder.life();
      lives.rows[recorder.peer()] = recorder.rounds().rows();
      for (const auto& [neighbor, count] : recorder.exchanges()) lives.exchanges += count;
    };
  simulate(fleet, observer, options);
  lives.hash = observer.params_hash();
  lives.end = *observer.summary();
  return lives;
}

Fleet ring_of_four(const std::string& algorithm = "d-psgd", const std::string& order = "lian") {
  Fleet fleet = quadratic_fleet(4, "ring", algorithm, order);
  fleet.data.quadratic.dimension = 1000;
  fleet.flops = 1e6;  // a gradient takes milliseconds
  fleet.stop.rounds = 20;
  return fleet;
}

TEST(Spent, AddsUpToTheTimeThatAPeerLived) {
  for (const AlgorithmRow* row : algorithms()) {
    Fleet fleet = row_fleet(*row);
    fleet.network.latency = milliseconds(2);
    const Lives lives = live(fleet);
    for (const auto& [peer, life] : lives.of) {
      EXPECT_EQ(life.costs.spent.total(), life.now)
          << row->kind << " " << row->order << ", " << peer;
      const Spent& spent = life.costs.spent;
      EXPECT_LE(spent.hidden_wire, spent.total() - spent[Activity::late] - spent[Activity::wire])
          << row->kind << " " << row->order << ": nothing is hidden for longer than it could be";
      Spent rounds;
      for (const RoundRow& each : lives.rows.at(peer)) rounds += each.spent;
      EXPECT_LE(rounds.total(), life.now);
    }
    EXPECT_EQ(lives.hash, live(fleet, false).hash) << "the book changes no bit";
  }
}

/// Ledgers record settled exchanges. `faults.ledger: true` once silently recorded nothing for a
/// third of the methods.
TEST(Ledgers, OfMethodsThatSettleNothingAreWarnedOf) {
  for (const AlgorithmRow* row : algorithms()) {
    Fleet fleet = row_fleet(*row);
    EXPECT_EQ(ledger_gap(Assembly(fleet)), "") << "nobody asks for one";
    fleet.faults.ledger = true;
    const std::string gap = ledger_gap(Assembly(fleet));
    EXPECT_EQ(gap.empty(), live(fleet).exchanges > 0) << row->kind << ": " << gap;
    EXPECT_TRUE(gap.empty() || gap.find(row->kind) != std::string::npos) << gap;
  }
}

struct Graph {
  const char* topology;
  const char* words;  ///< a part of the warning, or "" for none
  bool exchanges;
};

/// With eight peers on `exponential`, peers four apart have edges in both directions.
TEST(Ledgers, OfDirectedGraphsAreWarnedOf) {
  for (const auto& [topology, words, exchanges] :
       {Graph{"one-peer-exponential", "records nothing of d-psgd on this directed graph", false},
        Graph{"exponential", "leaves out 16 of 24 messages a round of d-psgd", true},
        Graph{"random-matching", "", true}}) {
    const Fleet fleet = read_fleet_text(fmt::format(
        "version: 1\npeers: 8\ndata: {{ kind: quadratic, dimension: 4 }}\nmodel: quadratic\n"
        "topology: {}\nstop: {{ rounds: 12 }}\nfaults: {{ ledger: true }}\n",
        topology));
    const std::string gap = ledger_gap(Assembly(fleet));
    EXPECT_NE(gap.find(words), std::string::npos) << topology << ": " << gap;
    EXPECT_EQ(gap.empty(), std::string(words).empty()) << topology << ": " << gap;
    EXPECT_EQ(live(fleet).exchanges > 0, exchanges) << topology;
  }
}

TEST(Spent, LatencyIsWireAndNotLateness) {
  Fleet fleet =
      ring_of_four("d-psgd", "atc");  // sends after its gradient, so that nothing is hidden
  fleet.network.latency = milliseconds(5);
  fleet.network.bandwidth = 0;
  for (const auto& [peer, life] : live(fleet).of) {
    EXPECT_NEAR(in_seconds(life.costs.spent[Activity::wire]), 20 * 0.005, 0.05 * 20 * 0.005);
    EXPECT_LT(in_seconds(life.costs.spent[Activity::late]), 0.001) << "all are equally fast";
  }
}

TEST(Spent, TheWireIsHiddenBehindALongGradient) {
  Fleet fleet = ring_of_four();  // lian sends before its gradient,
  fleet.flops = 1e5;             // which takes tens of milliseconds
  fleet.network.latency = milliseconds(5);
  fleet.network.bandwidth = 0;
  for (const auto& [peer, life] : live(fleet).of) {
    EXPECT_EQ(life.costs.spent[Activity::wire], Time{0});
    EXPECT_NEAR(in_seconds(life.costs.spent.hidden_wire), 20 * 0.005, 0.005)
        << "the messages of both neighbours travel at the same time";
  }
}

TEST(Spent, ASlowPeerIsItsNeighboursLateness) {
  Fleet fleet = ring_of_four();
  fleet.peers[2].speed = 0.2;
  fleet.network.bandwidth = 0;
  const Lives lives = live(fleet);
  const double slow = in_seconds(lives.of.at(2).costs.spent[Activity::compute]);
  const double fast = in_seconds(lives.of.at(1).costs.spent[Activity::compute]);
  EXPECT_NEAR(slow / fast, 5, 1e-6);
  const auto busy = [&](PeerId peer) {
    const Spent& spent = lives.of.at(peer).costs.spent;
    return in_seconds(spent.total() - spent[Activity::late] - spent[Activity::wire]);
  };
  EXPECT_NEAR(in_seconds(lives.of.at(1).costs.spent[Activity::late]), busy(2) - busy(1),
              0.05 * busy(2));
  const LifeDone& waiting = lives.of.at(1);
  ASSERT_EQ(waiting.neighbors, (std::vector<PeerId>{0, 2}));
  EXPECT_GT(waiting.waits[1].late, 10 * waiting.waits[0].late) << "and its name is told";
}

TEST(Spent, TheRecordSumsThePeers) {
  const Lives lives = live(ring_of_four());
  Spent all;
  std::uint64_t bytes = 0;
  for (const auto& [peer, life] : lives.of) {
    all += life.costs.spent;
    bytes += life.costs.model_bytes;
  }
  EXPECT_EQ(lives.end.costs.spent.at, all.at);
  EXPECT_EQ(lives.end.costs.model_bytes, bytes);
  EXPECT_EQ(bytes, 4U * 2 * 20 * 4000)
      << "a vector of 1,000 floats to two neighbours in each round";
  EXPECT_EQ(lives.end.training_time, lives.end.time) << "looking takes no virtual time";
}

TEST(Spent, AnAsynchronousMethodSaysHowStaleItWas) {
  Fleet fleet = ring_of_four("ad-psgd", "");
  fleet.peers[2].speed = 0.2;
  std::uint64_t stale = 0;
  for (const auto& [peer, life] : live(fleet).of)
    for (std::size_t bin = 1; bin < life.staleness.size(); ++bin) stale += life.staleness[bin];
  EXPECT_GT(stale, 0U);
  for (const auto& [peer, life] : live(ring_of_four()).of)
    EXPECT_EQ(life.staleness.size(), 1U) << "a synchronous one is never behind";
}

}  // namespace
}  // namespace gv
