#include "peer/record/report/time_shares.h"

#include <vector>

#include <gtest/gtest.h>

namespace gv {
namespace {

FleetRecord spent(int compute, int mix, int late, int wire, int evaluate) {
  FleetRecord record;
  record.costs.spent[Activity::compute] = Time{compute};
  record.costs.spent[Activity::mix] = Time{mix};
  record.costs.spent[Activity::late] = Time{late};
  record.costs.spent[Activity::wire] = Time{wire};
  record.costs.spent[Activity::evaluate] = Time{evaluate};
  return record;
}

TEST(TimeShares, AreOfTheWhole) {
  EXPECT_EQ(time_text(spent(500, 250, 0, 247, 3)), "time       compute 50 %, mix 25 %, wire 25 %");
  EXPECT_EQ(time_text({}), "");
}

/// All eight shares once took 92 columns.
TEST(TimeShares, BreakTheLineBetweenTwo) {
  FleetRecord record = spent(500, 10, 300, 100, 90);
  for (const Activity activity : {Activity::code, Activity::checkpoint, Activity::other})
    record.costs.spent[activity] = Time{110};
  const std::string text = time_text(record);
  const std::size_t end = text.find('\n');
  ASSERT_NE(end, std::string::npos) << text;
  EXPECT_LE(end, 80U) << text;
  EXPECT_TRUE(text.substr(end + 1).starts_with("           ")) << text;
  EXPECT_LE(text.size() - end - 1, 80U) << text;
}

constexpr Remedies everything{.local_steps = true, .codec = true, .unequal_work = true};
const Culprit slow_peer{.kind = Culprit::Kind::peer,
                        .peer = 3,
                        .share = 0.3,
                        .activity = Activity::compute,
                        .slower = 4};
const Culprit slow_link{.kind = Culprit::Kind::link, .peer = 2, .other = 3, .share = 0.3};

std::string advice(const FleetRecord& record,
                   std::vector<Culprit> found = {},
                   const Remedies& remedies = everything) {
  return time_advice(record, found, {}, remedies);
}

TEST(TimeShares, AdviseAgainstTheLargestCost) {
  EXPECT_EQ(advice(spent(500, 10, 100, 300, 90)),
            "hint       30 % is waiting for the network; try local_steps or a codec");
  EXPECT_NE(advice(spent(500, 10, 20, 30, 440)).find("evaluate.every"), std::string::npos);
  EXPECT_EQ(advice(spent(950, 20, 10, 10, 10)), "") << "nothing to gain";
  EXPECT_EQ(advice({}), "");
}

/// Equal peers always wait for each other. They were once advised to choose batches by speed.
TEST(TimeShares, AdviseNothingAgainstEqualsThatWaitForEachOther) {
  EXPECT_EQ(advice(spent(570, 100, 170, 60, 100)), "");
}

TEST(TimeShares, NameWhoIsWaitedForAndWhatHelpsThere) {
  EXPECT_EQ(advice(spent(500, 10, 300, 100, 90), {slow_peer}),
            "hint       40 % is waiting, most of it for peer 3; try `train.batch: auto`");
  EXPECT_EQ(advice(spent(100, 10, 700, 190, 0), {slow_link}),
            "hint       89 % is waiting, most of it for the link between peer 2 and peer 3;\n"
            "           try local_steps or a codec");
}

TEST(TimeShares, AdviseOtherStagesWhereOneIsSlow) {
  EXPECT_EQ(advice(spent(500, 10, 300, 100, 90), {slow_peer}, {.other_stages = true}),
            "hint       40 % is waiting, most of it for peer 3; try `grapevine plan\n           "
            "--parallel`");
}

TEST(TimeShares, AdviseNothingThatTheFleetDoesAlreadyOrCannot) {
  EXPECT_EQ(advice(spent(500, 10, 300, 100, 90), {slow_peer}, {}),
            "hint       40 % is waiting, most of it for peer 3");
  EXPECT_EQ(advice(spent(500, 10, 100, 300, 90), {}, {.codec = true}),
            "hint       30 % is waiting for the network; try a codec");
  EXPECT_EQ(advice(spent(500, 10, 100, 300, 90), {}, {}), "");
}

}  // namespace
}  // namespace gv
