#include "tests/peer/cli/graph_fixture.h"

namespace gv {
namespace {

TEST_F(GraphCommand, BestKeepsTheDegree) {
  const Ended said = grapevine("graph best --peers 16 --max-degree 4 --schedules --json");
  ASSERT_EQ(said.code, 0) << said.err;
  const ReadJson rows = ReadJson::parse(said.output()).at("rows");
  ASSERT_EQ(rows.size(), 10U);
  for (const ReadJson& row : rows) EXPECT_LE(row.at("neighbors_most"), 4);
  EXPECT_EQ(rows[0].at("kind"), "schedule");
}

/// One-peer exponential averages exactly in four rounds, but keeps more noise than four neighbours.
TEST_F(GraphCommand, BestByThePredictorSaysWhy) {
  const Ended said = grapevine(
      "graph best --peers 16 --max-degree 4 --schedules --hessian 1,0.5,0.25,0.1 --rate 0.1 "
      "--json");
  ASSERT_EQ(said.code, 0) << said.err;
  const ReadJson json = ReadJson::parse(said.output());
  EXPECT_EQ(json.at("measure"), "excess_loss_local");
  const ReadJson& rows = json.at("rows");
  EXPECT_EQ(rows[0].at("kind"), "topology");
  double before = 0;
  for (const ReadJson& row : rows) {
    const double score = row.at("score");
    EXPECT_GE(score, before);
    before = score;
  }
  const std::string reason = json.at("reason");
  EXPECT_NE(reason.find("largest gap here is that of base:k=3"), std::string::npos) << reason;
}

TEST_F(GraphCommand, ScheduleKnowsExactAveraging) {
  const Ended said = grapevine("graph schedule base:k=2 ou-equi-dyn --peers 25 --json");
  ASSERT_EQ(said.code, 0) << said.err;
  const ReadJson rows = ReadJson::parse(said.output()).at("rows");
  EXPECT_EQ(rows[0].at("product"), 0);
  EXPECT_EQ(rows[0].at("rounds_to_thousandth"), rows[0].at("period"));
  EXPECT_GT(rows[1].at("kappa_error"), 0);
}

TEST_F(GraphCommand, ListNamesWeightsAndSchedules) {
  const ReadJson list = ReadJson::parse(grapevine("graph list --json").output());
  EXPECT_EQ(list.at("schema"), "grapevine.graph-list/1");
  EXPECT_EQ(list.at("schedules").at(0).at("schedule"), "one-peer-exponential");
  EXPECT_EQ(list.at("weights").at(4), "fdla");
}

}  // namespace
}  // namespace gv
