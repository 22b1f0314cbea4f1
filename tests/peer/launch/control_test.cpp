#include "peer/launch/process/control.h"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "optim/unknown_figure.h"

namespace gv::control {
namespace {

TEST(Control, EveryLineReadsBack) {
  EXPECT_EQ(std::get<Listening>(parse_peer(line(Listening{65535}))).port, 65535);
  EXPECT_TRUE(std::holds_alternative<Ready>(parse_peer(line(Ready{}))));
  EXPECT_EQ(std::get<Shares>(parse_peer(line(Shares{5}))).peer, 5U);
  EXPECT_EQ(std::get<Progress>(parse_peer(line(Progress{7}))).round, 7U);
  const Measured measured = std::get<Measured>(parse_peer(line(Measured{"cuda:1", 1234.5, 6e9})));
  EXPECT_EQ(measured.device, "cuda:1");
  EXPECT_EQ(measured.samples_per_second, 1234.5);
  EXPECT_EQ(measured.flops, 6e9);
  EXPECT_EQ(std::get<Kept>(parse_peer(line(Kept{60}))).round, 60U);
  EXPECT_EQ(std::get<NoSpace>(parse_peer(line(NoSpace{"a \"b\""}))).text, "a \"b\"");
  EXPECT_TRUE(std::holds_alternative<Measure>(parse_launcher(line(Measure{}))));
  const PeerKeys keys = make_keys(1).front();
  const PeerKeys told_keys = std::get<Keys>(parse_launcher(line(Keys{keys}))).keys;
  EXPECT_EQ(told_keys.key, keys.key);
  EXPECT_EQ(told_keys.authority, keys.authority);
  const auto addresses =
      std::get<Addresses>(parse_launcher(line(Addresses{{{1, "127.0.0.1", 27001}}})));
  EXPECT_EQ(addresses.list.at(0).host, "127.0.0.1");
  EXPECT_EQ(std::get<Cut>(parse_launcher(line(Cut{2, Time{5}}))).length, Time{5});
  EXPECT_EQ(std::get<KeepCheckpoint>(parse_launcher(line(KeepCheckpoint{70}))).round, 70U);
  const auto hold = std::get<Hold>(parse_launcher(line(Hold{60, 85})));
  EXPECT_EQ(hold.round, 60U);
  EXPECT_EQ(hold.next, 85U);
  const auto record = std::get<RecordRounds>(parse_launcher(line(RecordRounds{70, 99})));
  EXPECT_EQ(record.first, 70U);
  EXPECT_EQ(record.last, 99U);
  EXPECT_EQ(std::get<Halts>(parse_peer(line(Halts{61}))).round, 61U);
  EXPECT_TRUE(std::holds_alternative<Halt>(parse_launcher(line(Halt{}))));
  EXPECT_EQ(std::get<Stop>(parse_launcher(line(Stop{62}))).after, 62U);
}

TEST(Control, ProgressReadsBack) {
  const Progress progress{
      .round = 8,
      .spent = {.at = {Time{1}, Time{2}}},
      .waits = {{.peer = 2, .late = Time{30}, .wire = Time{4}, .longest = Time{9}}},
      .staleness = 3,
      .queue = 5};
  const Progress told = std::get<Progress>(parse_peer(line(progress)));
  EXPECT_EQ(told.spent.at, progress.spent.at);
  ASSERT_EQ(told.waits.size(), 1U);
  EXPECT_EQ(told.waits[0].peer, 2U);
  EXPECT_EQ(told.waits[0].late, Time{30});
  EXPECT_EQ(told.waits[0].wire, Time{4});
  EXPECT_EQ(told.waits[0].longest, Time{9});
  EXPECT_EQ(told.staleness, 3U);
  EXPECT_EQ(told.queue, 5U);
}

TEST(Control, AReportReadsBack) {
  Reported says;
  says.report.tick = 4;
  says.report.due = Time{44};
  says.report.costs.repeated_bytes = 11;
  says.report.staleness = 6;
  says.report.queue = 7;
  says.report.peer = 3;
  says.report.round = 9;
  says.report.last = true;
  says.report.edges = {{2, {17}, 3}};
  says.report.ran_ahead = RunAhead{.first = 8, .rounds = 900, .usual = Time{77}};
  says.report.silent = {{.with = 4, .since = 5, .rounds = 600}};
  says.report.experience =
      ExperienceFigures{.frames = 1, .taken = 2, .learnt = 3, .kept = 4, .actors = 5};
  says.report.train_loss = 0.1;
  says.report.evaluation.loss = std::numeric_limits<double>::infinity();
  const Report report = std::get<Reported>(parse_peer(line(says))).report;
  EXPECT_EQ(report.peer, 3U);
  EXPECT_EQ(report.tick, 4U);
  EXPECT_EQ(report.due, Time{44});
  EXPECT_EQ(report.costs.repeated_bytes, 11U);
  EXPECT_EQ(report.staleness, 6U);
  EXPECT_EQ(report.queue, 7U);
  EXPECT_EQ(report.round, 9U);
  EXPECT_TRUE(report.last);
  ASSERT_EQ(report.edges.size(), 1U);
  EXPECT_EQ(report.edges[0].with, 2U);
  EXPECT_EQ(report.edges[0].exchange.value, 17U);
  EXPECT_EQ(report.edges[0].pieces, 3U);
  EXPECT_EQ(report.ran_ahead, says.report.ran_ahead);
  EXPECT_EQ(report.silent, says.report.silent);
  ASSERT_TRUE(report.experience);
  EXPECT_EQ(report.experience->frames, 1U);
  EXPECT_EQ(report.experience->taken, 2U);
  EXPECT_EQ(report.experience->learnt, 3U);
  EXPECT_EQ(report.experience->kept, 4U);
  EXPECT_EQ(report.experience->actors, 5U);
  EXPECT_EQ(report.train_loss, 0.1);
  EXPECT_TRUE(std::isnan(report.evaluation.loss)) << "JSON has no infinity";
  EXPECT_FALSE(report.evaluation.accuracy);
}

TEST(Control, ATrainingLossIsKnownDivergedOrMissing) {
  Reported says;
  const auto read_back = [&] {
    return std::get<Reported>(parse_peer(line(says))).report.train_loss;
  };
  says.report.train_loss = unknown_figure();
  EXPECT_TRUE(is_unknown(read_back())) << "a peer without a minibatch";
  says.report.train_loss = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(has_diverged(read_back()));
}

/// A report with a negative time is rejected, so no peer can blame another with a false time.
TEST(Control, NothingTakesLessThanNoTime) {
  Progress lie{.round = 8, .waits = {{.peer = 2, .late = Time{30}, .wire = Time{4}}}};
  EXPECT_TRUE(std::holds_alternative<Progress>(parse_peer(line(lie))));
  lie.waits[0].longest = Time{-1};
  EXPECT_TRUE(std::holds_alternative<std::monostate>(parse_peer(line(lie))));
  lie.waits[0].longest = Time{0};
  lie.spent[Activity::other] = Time{-1};
  EXPECT_TRUE(std::holds_alternative<std::monostate>(parse_peer(line(lie))));
}

/// Its vector was sent before. If the line were skipped, the next report would get that vector.
TEST(Control, AReportThatMakesNoSenseIsNotPassedOver) {
  EXPECT_TRUE(std::holds_alternative<BadReport>(parse_peer(R"({"event":"report","peer":0})")));
  Reported says;
  says.report.costs.spent[Activity::other] = Time{-1};
  EXPECT_TRUE(std::holds_alternative<BadReport>(parse_peer(line(says))));
}

TEST(Control, ALineThatIsNoneIsNothing) {
  for (const char* text :
       {"", "no JSON", "{", "[1]", "{\"event\":7}", "{\"event\":\"listening\"}",
        "{\"event\":\"listening\",\"port\":65536}", "{\"event\":\"progress\",\"round\":-1}",
        "{\"cut\":\"everybody\"}", "{\"addresses\":[{\"peer\":1}]}"}) {
    EXPECT_TRUE(std::holds_alternative<std::monostate>(parse_peer(text))) << text;
    EXPECT_TRUE(std::holds_alternative<std::monostate>(parse_launcher(text))) << text;
  }
}

}  // namespace
}  // namespace gv::control
