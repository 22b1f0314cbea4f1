#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "graph/formats/npy_matrix.h"
#include "peer/fleet/json/json.h"
#include "peer/record/life/recorder.h"
#include "tests/scratch_folder.h"
#include "tests/text_of.h"

namespace gv {
namespace {

RoundDone round_at(Round rounds, int now) {
  RoundDone done;
  done.rounds = rounds;
  done.now = Time{now};
  done.spent[Activity::compute] = Time{now / 2};
  done.spent[Activity::late] = Time{now - now / 2};
  done.sent_bytes = 100 * rounds;
  done.staleness = rounds % 3;
  done.queue = rounds % 5;
  return done;
}

TEST(RoundRows, KeepTheWholeRunInSoManyRows) {
  for (const std::size_t most : {2U, 3U, 7U, 16U}) {
    RoundRows rows(most);
    rows.begin(0, Time{0});
    for (Round round = 1; round <= 1000; ++round) {
      rows.add(round_at(round, static_cast<int>(7 * round)));
      Round next = 0;
      Spent spent;
      std::uint64_t bytes = 0;
      for (const RoundRow& row : rows.rows()) {
        EXPECT_EQ(row.first, next) << "rows follow each other";
        EXPECT_EQ(row.begin, Time{static_cast<int>(7 * next)});
        next += row.rounds;
        spent += row.spent;
        bytes += row.bytes;
      }
      ASSERT_LE(rows.rows().size(), most);
      ASSERT_EQ(next, round);
      ASSERT_EQ(spent.total(), Time{static_cast<int>(7 * round)});
      ASSERT_EQ(bytes, 100 * round);
    }
    EXPECT_EQ(rows.rows().front().staleness, 2U);
    EXPECT_EQ(rows.rows().front().queue, 4U);
  }
}

TEST(RoundRows, BeginWhereALifeDoes) {
  RoundRows rows(8);
  rows.begin(40, Time{5});
  rows.add(round_at(41, 9));
  rows.add(round_at(50, 20));  // eight rounds are skipped
  ASSERT_EQ(rows.rows().size(), 2U);
  EXPECT_EQ(rows.rows()[0].first, 40U);
  EXPECT_EQ(rows.rows()[0].begin, Time{5});
  EXPECT_EQ(rows.rows()[1].first, 41U);
  EXPECT_EQ(rows.rows()[1].rounds, 9U);
}

TEST(Moments, AreKeptOfTheSameRoundsEverywhere) {
  std::vector<Round> kept;
  for (Round round = 0; round < 230; ++round)
    if (is_kept_whole(round)) kept.push_back(round);
  std::vector<Round> expected;
  for (const Round start : {0U, 64U, 96U, 144U, 216U})
    for (Round round = start; round < start + 8; ++round) expected.push_back(round);
  EXPECT_EQ(kept, expected);
}

RoundDone round_of(Round rounds, std::size_t intervals) {
  RoundDone round;
  round.rounds = rounds;
  for (std::size_t k = 0; k < intervals; ++k)
    round.intervals.push_back({Activity::mix, Time{0}, Time{1}, {}});
  return round;
}

TEST(Moments, AreKeptOfRoundsThatAreAskedForToo) {
  Recorder recorder(0, record_limits(2, 64, true));
  recorder.life_begun(0, Time{0});
  EXPECT_FALSE(recorder.wants_intervals(20));
  recorder.keep_whole(20, 22);
  for (Round round = 20; round < 23; ++round) {
    EXPECT_TRUE(recorder.wants_intervals(round));
    EXPECT_FALSE(recorder.take_asked_done());
    recorder.round_done(round_of(round + 1, 2));
  }
  EXPECT_TRUE(recorder.take_asked_done());
  EXPECT_FALSE(recorder.take_asked_done()) << "it is written once";
  EXPECT_FALSE(recorder.wants_intervals(22));
  EXPECT_EQ(recorder.moments().size(), 6U);
  EXPECT_TRUE(recorder.wants_intervals(64));
  Recorder none(0, record_limits(2, 64, false));
  none.keep_whole(20, 22);
  EXPECT_FALSE(none.wants_intervals(20)) << "the fleet file does not want any";
}

/// Repeated requests are bounded too, and requested rounds take no room from the regular ones.
TEST(Moments, OfRoundsThatAreAskedForAreBounded) {
  Recorder recorder(0, record_limits(2, 64, true));
  recorder.life_begun(0, Time{0});
  recorder.keep_whole(100, 1'000'000);
  recorder.round_done(round_of(101, 200'000));
  EXPECT_EQ(recorder.moments().size(), 131'072U);
  EXPECT_FALSE(recorder.wants_intervals(200));
  recorder.keep_whole(10, 10);
  EXPECT_TRUE(recorder.wants_intervals(64));
}

TEST(Record, RowsAreBoundedForTheWholeFleet) {
  const auto rows_for = [](PeerId peers, std::size_t rows) {
    return record_limits(peers, rows, true).rows;
  };
  EXPECT_FALSE(Recorder(0, record_limits(8, 64, false)).wants_intervals(0));
  EXPECT_TRUE(Recorder(0, record_limits(8, 64, true)).wants_intervals(0));
  EXPECT_EQ(rows_for(8, 1024), 1024U);
  EXPECT_EQ(rows_for(8, 100), 100U);
  EXPECT_LE(rows_for(100'000, 1024) * 100'000 * 15 * 8, std::size_t{64} << 20);
  EXPECT_GE(rows_for(1'000'000'000, 1024), 2U);
}

class WrittenRecord : public testing::Test {
 protected:
  void live(LifeRecord& record) {
    Recorder& recorder = record.recorder();
    recorder.life_begun(0, Time{0});
    RoundDone round = round_at(1, 1000);
    round.intervals = {{Activity::compute, Time{0}, Time{500}, {}},
                       {Activity::late, Time{500}, Time{1000}, 1}};
    recorder.round_done(round);
    recorder.settled({.with = 7, .exchange = {}, .part = 0, .weight = 0, .ours = {}, .theirs = {}});
    recorder.settled({.with = 7, .exchange = {}, .part = 1, .weight = 0, .ours = {}, .theirs = {}});
    LifeDone life;
    life.now = Time{1000};
    life.costs.spent = round.spent;
    life.neighbors = {3, 7};
    life.waits.resize(2);
    life.waits[1].late = Time{500};
    life.staleness = {2, 1};
    life.costs.sent_bytes = 100;
    life.costs.model_bytes = 90;
    recorder.life_done(life);
    EXPECT_EQ(record.write(), "");
  }

  ScratchFolder scratch;
  std::string folder = scratch.path();
};

TEST_F(WrittenRecord, ReadsBack) {
  LifeRecord record(folder, 4, {3, 7}, RecordLimits{.rows = 16});
  record.set_epoch(std::chrono::seconds(1000));
  live(record);
  const NpyMatrix rounds = parse_npy_table(text_of(folder + "/rounds.0.npy"), "rounds");
  ASSERT_EQ(rounds.rows, 1U);
  ASSERT_EQ(rounds.columns, 15U);
  EXPECT_EQ(rounds(0, 1), 1);
  EXPECT_EQ(rounds(0, 2), 1000) << "begins by the machine's clock";
  EXPECT_DOUBLE_EQ(rounds(0, 3), 500e-9);  // compute
  EXPECT_DOUBLE_EQ(rounds(0, 6), 500e-9);  // late
  EXPECT_EQ(rounds(0, 12), 100);           // bytes
  const NpyMatrix moments = parse_npy_table(text_of(folder + "/moments.0.npy"), "moments");
  ASSERT_EQ(moments.rows, 2U);
  EXPECT_EQ(moments(0, 4), -1);
  EXPECT_NEAR(moments(1, 2), 1000 + 500e-9, 1e-9);
  EXPECT_EQ(moments(1, 1), static_cast<double>(Activity::late));
  EXPECT_EQ(moments(1, 4), 7) << "a place among the neighbours becomes the peer's number";
  const JsonValue totals = parse_json(text_of(folder + "/totals.json"), "totals");
  EXPECT_EQ(json_integer<PeerId>(totals, "peer"), 4U);
  EXPECT_DOUBLE_EQ(json_number(json_member(totals, "states"), "late"), 500e-9);
  const JsonValue& with = json_member(json_member(totals, "neighbours"), "7");
  EXPECT_EQ(json_integer<std::uint64_t>(with, "exchanges"), 1U);
  EXPECT_DOUBLE_EQ(json_number(with, "late"), 500e-9);
  EXPECT_EQ(json_integer<std::uint64_t>(json_member(totals, "bytes"), "other"), 10U);
  EXPECT_GT(json_integer<std::uint64_t>(totals, "peak_memory_bytes"), 0U);
}

TEST_F(WrittenRecord, ALaterLifeLeavesTheEarlierOnesAlone) {
  LifeRecord first(folder, 4, {3, 7}, RecordLimits{.rows = 16});
  live(first);
  const std::string before = text_of(folder + "/rounds.0.npy");
  LifeRecord second(folder, 4, {3, 7}, RecordLimits{.rows = 16});
  live(second);
  EXPECT_EQ(text_of(folder + "/rounds.0.npy"), before);
  EXPECT_TRUE(std::filesystem::exists(folder + "/rounds.1.npy"));
}

TEST_F(WrittenRecord, ADiskThatRefusesIsSaidOnce) {
  LifeRecord record(folder + "/nowhere", 4, {3, 7}, RecordLimits{.rows = 16});
  EXPECT_EQ(record.write_when_due(Time{std::chrono::seconds(1)}), "") << "not due yet";
  EXPECT_NE(record.write_when_due(Time{std::chrono::seconds(11)}), "");
  EXPECT_EQ(record.write(), "");
}

}  // namespace
}  // namespace gv
