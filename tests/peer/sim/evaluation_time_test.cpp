#include <cmath>

#include <gtest/gtest.h>

#include "gossip/algorithm.h"
#include "peer/fleet/digest.h"
#include "peer/record/report/metrics.h"
#include "peer/runtime/assembly/assembly.h"
#include "peer/sim/simulation.h"
#include "tests/peer/fleet/test_fleet.h"

namespace gv {
namespace {

using std::chrono::milliseconds;

struct Seen {
  std::vector<FleetRecord> ticks;
  FleetRecord end;
  std::string hash;
};

Seen seen_of(const Fleet& file) {
  const Assembly fleet(file);
  Seen seen;
  Observer observer(fleet.fleet.size(), fleet.evaluator(), [&](const FleetRecord& record) {
    if (record.tick > 0) seen.ticks.push_back(record);
  });
  SimulationOptions options;
  options.threads = 2;
  simulate(fleet, observer, options);
  seen.end = *observer.summary();
  seen.hash = observer.params_hash();
  return seen;
}

/// Five peers of equal speed, and one that takes five times as long.
Fleet with_a_slow_peer(const std::string& algorithm) {
  Fleet fleet = quadratic_fleet(6, "ring", algorithm, "");
  fleet.data.quadratic.dimension = 100;
  fleet.flops = 1e6;
  fleet.network.latency = milliseconds(1);
  fleet.peers.back().speed = 0.2;
  fleet.stop.rounds = 60;
  return fleet;
}

/// For every method, evaluations come at the periods of the fleet's clock, include all peers, and
/// change no bit of the training.
TEST(EvaluationByTime, IsAtTheFleetsTimeForEveryMethod) {
  for (const AlgorithmRow* row : algorithms()) {
    SCOPED_TRACE(std::string(row->kind) + " " + std::string(row->order));
    Fleet fleet = row_fleet(*row);
    fleet.network.latency = milliseconds(2);
    const Seen without = seen_of(fleet);
    const Time period = without.end.time / 7;
    fleet.evaluate_every = 0;
    fleet.evaluate_period = period;
    const Seen with = seen_of(fleet);
    EXPECT_EQ(with.hash, without.hash);
    EXPECT_EQ(with.end.time, without.end.time);
    // If a sum is made in the models themselves, the evaluation waits for it, and periods pass.
    const bool sums = row->promise == Promise::agreement;
    ASSERT_GE(with.ticks.size(), sums ? 3U : 6U);
    for (std::size_t k = 0; k < with.ticks.size(); ++k) {
      const FleetRecord& record = with.ticks[k];
      EXPECT_TRUE(sums || record.tick == k + 1) << record.tick;
      EXPECT_EQ(record.time, period * static_cast<std::int64_t>(record.tick));
      EXPECT_EQ(record.training_time, record.time);
      EXPECT_EQ(record.peers, without.end.peers);
      EXPECT_TRUE(std::isfinite(record.mean.loss));
      if (k == 0) continue;
      EXPECT_GE(record.round, with.ticks[k - 1].round);
      EXPECT_GE(record.costs.samples, with.ticks[k - 1].costs.samples);
    }
  }
}

/// By rounds, an asynchronous fleet is evaluated when its slowest peer arrives. By time, it is
/// evaluated while it runs, up to the end of all peers, the slowest included.
TEST(EvaluationByTime, DoesNotWaitForTheSlowestPeer) {
  Fleet fleet = with_a_slow_peer("ad-psgd");
  const Seen whole = seen_of(fleet);
  fleet.evaluate_period = whole.end.time / 50;
  const Seen seen = seen_of(fleet);
  ASSERT_GE(seen.ticks.size(), 45U);
  // After a fifth of the time the others have done a fifth of their rounds, the slow peer fewer.
  const FleetRecord& early = seen.ticks[9];
  EXPECT_GT(early.round, 8U);
  EXPECT_LT(early.round, 13U);
  EXPECT_EQ(early.peers, 6U);
  const FleetRecord& late = seen.ticks[40];
  EXPECT_GT(late.round, 35U);
  EXPECT_LE(late.round, 50U);
  EXPECT_EQ(late.peers, 6U);
}

/// A ring sums in the models themselves, which hold partial sums during the operation.
TEST(EvaluationByTime, SeesNoPartOfASum) {
  for (const std::string kind : {"local-sgd", "slowmo", "gossip-pga"}) {
    SCOPED_TRACE(kind);
    Fleet fleet = quadratic_fleet(6, "ring", kind, "");
    fleet.data.quadratic.dimension = 100;
    fleet.data.quadratic.start = 3;
    fleet.optimizer.lr = 1e-6;
    fleet.settings["every"] = 2;
    fleet.flops = 1e9;
    fleet.network.latency = milliseconds(20);
    fleet.evaluate_every = 0;
    fleet.evaluate_period = milliseconds(17);
    fleet.stop.rounds = 20;
    const Seen seen = seen_of(fleet);
    ASSERT_GE(seen.ticks.size(), 10U);
    for (const FleetRecord& record : seen.ticks) EXPECT_LT(record.consensus, 1e-4) << record.tick;
  }
}

/// A replay cannot have bits that the fleet's clock decides.
TEST(EvaluationByTime, TiesTheBitsOfARunToItsClock) {
  Fleet near = quadratic_fleet(4, "ring", "d-psgd", "");
  Fleet far = near;
  far.network.latency = milliseconds(50);
  EXPECT_EQ(bits_of(near), bits_of(far));
  near.evaluate_period = far.evaluate_period = milliseconds(10);
  EXPECT_NE(bits_of(near), bits_of(far));
}

/// One of two peers is two ticks late. Its next report counts for these ticks.
TEST(EvaluationByTime, WhoWasLateForATickCountsWithItsNextReport) {
  const Fleet file = quadratic_fleet(2, "ring", "d-psgd", "");
  const Assembly fleet(file);
  std::vector<FleetRecord> records;
  Observer observer(2, fleet.evaluator(), [&](const FleetRecord& r) { records.push_back(r); });
  const auto report = [&](PeerId peer, std::uint64_t tick, Round round, bool last) {
    Report r{
        .peer = peer, .round = round, .tick = tick, .last = last, .evaluation = {}, .model = {}};
    r.due = milliseconds(10) * static_cast<std::int64_t>(tick);
    auto x = std::make_shared<Buffer>(fleet.dimension * sizeof(float));
    for (float& value : x->floats()) value = static_cast<float>(round);
    r.model = x;
    observer.take(std::move(r), milliseconds(10) * static_cast<std::int64_t>(tick));
  };
  report(0, 1, 10, false);
  report(0, 2, 20, false);
  EXPECT_TRUE(records.empty());
  report(1, 2, 4, false);
  ASSERT_EQ(records.size(), 2U);
  EXPECT_EQ(records[0].round, 7U);
  EXPECT_EQ(records[1].round, 12U);
  report(1, 4, 8, true);
  report(0, 3, 30, false);
  ASSERT_EQ(records.size(), 3U);
  EXPECT_EQ(records[2].round, 19U);
  report(0, 4, 40, true);
  ASSERT_EQ(records.size(), 4U);
  EXPECT_EQ(records[3].tick, 0U);
  EXPECT_EQ(records[3].round, 24U);
}

}  // namespace
}  // namespace gv
