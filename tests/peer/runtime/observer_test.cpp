#include "peer/runtime/observer.h"

#include <cmath>

#include <gtest/gtest.h>

#include "peer/runtime/assembly.h"
#include "tests/peer/fleet/test_fleet.h"

namespace gv {
namespace {

constexpr std::size_t dimension = 4;

Fleet small_fleet() {
  Fleet fleet = quadratic_fleet(3, "ring", "d-psgd", "lian");
  fleet.data.quadratic.dimension = dimension;
  return fleet;
}

class Observers : public testing::Test {
 protected:
  Report trainer(PeerId peer, Round round) {
    Report report;
    report.peer = peer;
    report.round = round;
    report.evaluation.loss = 1;
    auto model = pool_.acquire(dimension * sizeof(float));
    std::ranges::fill(model->floats(), 1.0F);
    report.model = model;
    return report;
  }

  /// Its state is no part of the fleet's model.
  Report data_server(PeerId peer, Round round) {
    Report report;
    report.peer = peer;
    report.round = round;
    report.trains = false;
    report.holds.weight = 0;
    report.model = pool_.acquire(0);
    return report;
  }

  std::vector<Round> told() const {
    std::vector<Round> rounds;
    for (const FleetRecord& record : records_) {
      EXPECT_TRUE(std::isfinite(record.mean.loss)) << record.round;
      rounds.push_back(record.round);
    }
    return rounds;
  }

  BufferPool pool_;
  const Assembly fleet_{small_fleet()};
  std::vector<FleetRecord> records_;
  Observer observer_{
      3, fleet_.evaluator(), [this](const FleetRecord& record) { records_.push_back(record); }};
};

/// Found so: a data server that was killed and started again began at round 0, and with the next
/// round that all had reported the fleet had records of its first rounds without a model: the loss
/// was read from foreign memory, "rose" to 1e21, and the run ended with exit code 4.
TEST_F(Observers, WhoIsStartedAgainTellsNoRoundASecondTime) {
  for (const Round round : {10U, 20U}) {
    observer_.take(trainer(0, round), Time{1});
    observer_.take(trainer(1, round), Time{1});
    observer_.take(data_server(2, round), Time{1});
  }
  observer_.forget(2);
  observer_.expect(2);
  observer_.take(data_server(2, 10), Time{2});
  observer_.take(trainer(1, 20), Time{2});
  for (PeerId peer = 0; peer < 2; ++peer) observer_.take(trainer(peer, 30), Time{3});
  observer_.take(data_server(2, 30), Time{3});
  EXPECT_EQ(told(), (std::vector<Round>{10, 20, 30}));
}

TEST_F(Observers, ARoundWithoutAModelHasNoRecord) {
  observer_.take(data_server(2, 10), Time{1});
  for (PeerId peer = 0; peer < 2; ++peer) observer_.take(trainer(peer, 20), Time{2});
  observer_.take(data_server(2, 20), Time{2});
  EXPECT_EQ(told(), std::vector<Round>{20});
}

/// Who was away for many evaluations by time tells the first of them with its next report, and
/// each later one with the same.
TEST_F(Observers, AReportStandsForTheTicksThatWereMissed) {
  constexpr std::uint64_t ticks = 5000;
  for (std::uint64_t tick = 1; tick <= ticks; ++tick)
    for (PeerId peer = 0; peer < 2; ++peer) {
      Report report = trainer(peer, tick);
      report.tick = tick;
      observer_.take(std::move(report), Time{static_cast<std::int64_t>(tick)});
    }
  EXPECT_TRUE(records_.empty());
  Report late = trainer(2, 7);
  late.tick = ticks;
  observer_.take(std::move(late), Time{ticks + 1});
  ASSERT_EQ(records_.size(), ticks);
  EXPECT_EQ(records_.front().tick, 1U);
  EXPECT_EQ(records_.back().tick, ticks);
}

}  // namespace
}  // namespace gv
