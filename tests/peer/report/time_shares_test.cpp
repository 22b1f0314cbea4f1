#include "peer/report/time_shares.h"

#include <gtest/gtest.h>

namespace gv {
namespace {

FleetRecord spent(int compute, int mix, int late, int wire, int evaluate) {
  FleetRecord record;
  record.spent[Activity::compute] = Time{compute};
  record.spent[Activity::mix] = Time{mix};
  record.spent[Activity::late] = Time{late};
  record.spent[Activity::wire] = Time{wire};
  record.spent[Activity::evaluate] = Time{evaluate};
  return record;
}

TEST(TimeShares, AreOfTheWhole) {
  EXPECT_EQ(time_text(spent(500, 250, 0, 247, 3)), "time       compute 50 %, mix 25 %, wire 25 %");
  EXPECT_EQ(time_text({}), "");
}

/// All eight of them once took 92 columns.
TEST(TimeShares, BreakTheLineBetweenTwo) {
  FleetRecord record = spent(500, 10, 300, 100, 90);
  for (const Activity activity : {Activity::code, Activity::checkpoint, Activity::other})
    record.spent[activity] = Time{110};
  const std::string text = time_text(record);
  const std::size_t end = text.find('\n');
  ASSERT_NE(end, std::string::npos) << text;
  EXPECT_LE(end, 80U) << text;
  EXPECT_TRUE(text.substr(end + 1).starts_with("           ")) << text;
  EXPECT_LE(text.size() - end - 1, 80U) << text;
}

TEST(TimeShares, AdviseAgainstTheLargestCost) {
  EXPECT_NE(time_advice(spent(500, 10, 300, 100, 90)).find("30 % is waiting for slower peers"),
            std::string::npos);
  EXPECT_NE(time_advice(spent(500, 10, 100, 300, 90)).find("waiting for the network"),
            std::string::npos);
  EXPECT_NE(time_advice(spent(500, 10, 20, 30, 440)).find("evaluate.every"), std::string::npos);
  EXPECT_EQ(time_advice(spent(950, 20, 10, 10, 10)), "") << "nothing to gain";
  EXPECT_EQ(time_advice({}), "");
}

TEST(TimeShares, FitA80ColumnScreen) {
  for (const auto& record : {spent(500, 10, 300, 100, 90),
                             spent(500, 10, 100, 300, 90),
                             spent(500, 300, 100, 30, 90),
                             spent(100, 10, 100, 300, 900)})
    EXPECT_LE(time_advice(record).size(), 80U) << time_advice(record);
}

}  // namespace
}  // namespace gv
