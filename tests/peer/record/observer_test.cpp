#include "peer/record/observer.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <optional>
#include <tuple>
#include <utility>

#include <gtest/gtest.h>

#include "optim/rng.h"
#include "optim/unknown_figure.h"
#include "peer/runtime/assembly/assembly.h"
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

  /// Returns the report of a data server, whose state is not in the fleet's model.
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
  Observer observer_{3, fleet_.evaluator(),
                     [this](const FleetRecord& record) { records_.push_back(record); }};
};

/// A data server that was killed and restarted once began at round 0. After the next common round
/// the first rounds had records without a model: the loss was read from foreign memory, "rose" to
/// 1e21, and the run ended with exit code 4.
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

/// A peer was once killed near the end of its run. The sums of sent bytes fell with the last
/// record, and `report` left the run out as a resumed one.
TEST_F(Observers, WhatTheDeadHaveCostGoesOnCounting) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    Rng rng = Rng(seed).derive("costs");
    records_.clear();
    Observer observer(3, fleet_.evaluator(),
                      [this](const FleetRecord& r) { records_.push_back(r); });
    std::array<std::uint64_t, 3> told{}, most{};
    bool two = true;
    std::uint64_t before = 0;
    for (Round round = 1; round <= 20; ++round) {
      if (rng.below(4) == 0) {
        two = !two;
        told[2] = rng.below(told[2] + 1);  // what the checkpoint of its successor counted
        two ? observer.expect(2) : observer.forget(2);
      }
      for (PeerId peer = 0; peer < (two ? 3U : 2U); ++peer) {
        told.at(peer) += 1 + rng.below(50);
        most.at(peer) = std::max(most.at(peer), told.at(peer));
        Report report = trainer(peer, round);
        report.costs.sent_bytes = report.costs.samples = told.at(peer);
        report.costs.spent[Activity::compute] = Time{static_cast<std::int64_t>(told.at(peer))};
        observer.take(std::move(report), Time{1});
      }
      ASSERT_EQ(records_.size(), round);
      const FleetRecord& record = records_.back();
      EXPECT_EQ(record.costs.sent_bytes, most[0] + most[1] + most[2]);
      EXPECT_EQ(record.costs.samples, record.costs.sent_bytes);
      EXPECT_EQ(record.told, 3U - std::ranges::count(most, 0U)) << "who has sent something";
      EXPECT_EQ(record.costs.spent.total(),
                Time{static_cast<std::int64_t>(record.costs.sent_bytes)});
      EXPECT_GE(record.costs.sent_bytes, std::exchange(before, record.costs.sent_bytes));
    }
  }
}

/// A dead memory loses its transitions, but the steps that were learnt from them still count.
TEST_F(Observers, WhatADeadMemoryHadHandedOutGoesOnCounting) {
  for (const Round round : {10U, 20U}) {
    observer_.take(trainer(0, round), Time{1});
    observer_.take(trainer(1, round), Time{1});
    Report memory = data_server(2, round);
    memory.experience =
        ExperienceFigures{.frames = 0, .taken = 10, .learnt = 16 * round, .kept = 9, .actors = 2};
    if (round == 20) observer_.forget(2);
    observer_.take(std::move(memory), Time{1});
  }
  ASSERT_EQ(records_.size(), 2U);
  for (const FleetRecord& record : records_) {
    EXPECT_EQ(record.experience->learnt, 160U) << record.round;
    EXPECT_EQ(record.experience->taken, 10U);
  }
  EXPECT_EQ(records_[0].experience->kept, 9U);
  EXPECT_EQ(records_[1].experience->kept, 0U);
  EXPECT_EQ(records_[1].experience->actors, 0U);
}

TEST_F(Observers, ARoundWithoutAModelHasNoRecord) {
  observer_.take(data_server(2, 10), Time{1});
  for (PeerId peer = 0; peer < 2; ++peer) observer_.take(trainer(peer, 20), Time{2});
  observer_.take(data_server(2, 20), Time{2});
  EXPECT_EQ(told(), std::vector<Round>{20});
}

/// A peer that was away for many timed evaluations reports once, and the report counts for each
/// evaluation that it missed.
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

/// Answers only when `may_answer` is set.
class LateEvaluator : public Evaluator {
 public:
  void ask(std::span<const float> x) override {
    open_ = true;
    ++questions;
    size = x.size();
  }
  std::optional<Evaluation> answer() override {
    if (!open_ || !may_answer) return std::nullopt;
    open_ = may_answer = false;
    return Evaluation{.loss = 0.5, .accuracy = {}};
  }

  bool may_answer = false;
  int questions = 0;
  std::size_t size = 0;

 private:
  bool open_ = false;
};

class LateFigures : public Observers {
 protected:
  Report last_of(PeerId peer, Round round) {
    Report report = trainer(peer, round);
    report.last = true;
    return report;
  }
  void report_all(Observer& observer, Round round, Time now) {
    for (PeerId peer = 0; peer < 3; ++peer) observer.take(trainer(peer, round), now);
  }
  void end_all(Observer& observer, Round round, Time now) {
    for (PeerId peer = 0; peer < 3; ++peer) observer.take(last_of(peer, round), now);
  }
  Observer late(LateEvaluator& evaluator) {
    return {3, evaluator, [this](const FleetRecord& record) { records_.push_back(record); }};
  }
};

/// A late evaluator does not hold up the launcher, and the records are those of an immediate one.
TEST_F(LateFigures, ChangeNoRecordButByThemselves) {
  using Act = std::function<void(Observer&)>;
  const std::vector<Act> acts{[&](Observer& o) { report_all(o, 10, Time{1}); },
                              [&](Observer& o) { o.take(trainer(0, 20), Time{2}); },
                              [&](Observer& o) { o.take(trainer(1, 20), Time{3}); },
                              [&](Observer& o) { o.forget(2); },
                              [&](Observer& o) { o.take(trainer(0, 30), Time{4}); },
                              [&](Observer& o) { o.expect(2); },
                              [&](Observer& o) { o.take(trainer(1, 30), Time{5}); },
                              [&](Observer& o) { o.take(trainer(2, 30), Time{6}); },
                              [&](Observer& o) { end_all(o, 40, Time{7}); }};
  using Row = std::tuple<Round, PeerId, Time, Time>;
  const auto told = [&](std::size_t acts_between_answers) {
    LateEvaluator evaluator;
    records_.clear();
    Observer observer = late(evaluator);
    for (std::size_t k = 0; k < acts.size(); ++k) {
      acts[k](observer);
      evaluator.may_answer = acts_between_answers > 0 && k % acts_between_answers == 0;
      observer.work();
    }
    for (int k = 0; k < 9; ++k) {
      evaluator.may_answer = true;
      observer.work();
    }
    EXPECT_FALSE(observer.waits());
    EXPECT_EQ(observer.behind(), 0U);
    EXPECT_TRUE(observer.summary().has_value());
    std::vector<Row> rows;
    for (const FleetRecord& r : records_) {
      EXPECT_EQ(r.mean.loss, 0.5);
      rows.emplace_back(r.round, r.peers, r.time, r.training_time);
    }
    return rows;
  };
  for (const Act& act : acts) act(observer_);
  std::vector<Row> at_once;
  for (const FleetRecord& r : records_)
    at_once.emplace_back(r.round, r.peers, r.time, r.training_time);
  ASSERT_EQ(at_once.size(), 4U);
  for (const std::size_t between : {0U, 1U, 2U, 3U, 5U}) EXPECT_EQ(told(between), at_once);
}

TEST_F(LateFigures, AreWaitedForByOneRecordAtATime) {
  LateEvaluator evaluator;
  Observer observer = late(evaluator);
  report_all(observer, 10, Time{1});
  report_all(observer, 20, Time{2});
  EXPECT_TRUE(observer.waits());
  EXPECT_EQ(observer.behind(), 3U);
  EXPECT_EQ(evaluator.questions, 1);
  EXPECT_EQ(evaluator.size, dimension);
  evaluator.may_answer = true;
  observer.work();
  EXPECT_EQ(told(), std::vector<Round>{10});
  EXPECT_EQ(evaluator.questions, 2);
  EXPECT_TRUE(observer.waits());
}

/// A target counts when its evaluation is known. Anything that peers did in between is ignored.
TEST_F(LateFigures, EndARunWithTheRecordThatReachesItsTarget) {
  LateEvaluator evaluator;
  Observer observer = late(evaluator);
  observer.aim_at({.target = TargetSpec{.figure = TargetSpec::Figure::loss, .value = 0.6}});
  report_all(observer, 10, Time{1});
  report_all(observer, 20, Time{2});
  end_all(observer, 20, Time{3});
  EXPECT_FALSE(observer.over());
  evaluator.may_answer = true;
  observer.work();
  ASSERT_TRUE(observer.over());
  EXPECT_EQ(observer.summary()->round, 10U);
  EXPECT_EQ(observer.finals().at(0).round, 10U);
  EXPECT_FALSE(observer.waits());
}

/// A run that is ordered to stop ends, even if its program evaluates for ever.
TEST_F(LateFigures, AreMissingWhereNobodyWaits) {
  LateEvaluator evaluator;
  Observer observer = late(evaluator);
  report_all(observer, 10, Time{1});
  report_all(observer, 20, Time{2});
  observer.hurry();
  ASSERT_EQ(records_.size(), 2U);
  for (const FleetRecord& record : records_) EXPECT_TRUE(is_unknown(record.mean.loss));
  end_all(observer, 30, Time{3});
  EXPECT_TRUE(observer.waits()) << "the last one's are waited for";
  EXPECT_EQ(evaluator.questions, 2);
  observer.give_up();
  ASSERT_TRUE(observer.summary().has_value());
  EXPECT_TRUE(is_unknown(observer.summary()->mean.loss));
}

}  // namespace
}  // namespace gv
