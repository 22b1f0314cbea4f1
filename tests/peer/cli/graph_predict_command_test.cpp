#include <fstream>

#include "tests/peer/cli/graph_fixture.h"

namespace gv {
namespace {

TEST_F(GraphCommand, PredictsAQuadratic) {
  const Ended a = grapevine(
      "graph predict --json --topology ring --peers 16 --hessian 1,0.5,0.25,0.1 --rate 0.1 --order "
      "atc");
  ASSERT_EQ(a.code, 0) << a.err;
  const auto values = ReadJson::parse(a.output());
  EXPECT_NEAR(values.at("consensus").get<double>(), 0.03968, 6e-6);
  EXPECT_NEAR(values.at("excess_mean").get<double>(), 0.00640, 6e-6);
  EXPECT_NEAR(values.at("excess_local").get<double>(), 0.01408, 6e-6);
  EXPECT_EQ(a.err, "");
}

/// The minima of section 5.3's ring of 4, from a file.
TEST_F(GraphCommand, PredictsTheBiasOfGivenMinima) {
  const std::string file = path("minima.txt");
  std::ofstream(file) << "# b_i\n0\n1\n0\n-1\n";
  const Ended a =
      grapevine("graph predict --json --topology ring --peers 4 --noise 0 --spread " + file);
  ASSERT_EQ(a.code, 0) << a.err;
  EXPECT_NEAR(ReadJson::parse(a.output()).at("consensus").get<double>(), 2 * 0.017013232514 / 4,
              1e-12);
}

TEST_F(GraphCommand, WarnsBeyondTheStabilityLimit) {
  const Ended a = grapevine("graph predict --json --topology ring --peers 16 --rate 0.7");
  ASSERT_EQ(a.code, 0) << a.err;
  EXPECT_NE(a.err.find("beyond the stability limit 0.666667"), std::string::npos) << a.err;
  EXPECT_TRUE(ReadJson::parse(a.output()).at("consensus").is_null());
}

/// The prediction was once for another method, and D2's limit was a rate that `plan` refuses.
TEST_F(GraphCommand, PredictsTrackingAsItRuns) {
  const Ended a = grapevine(
      "graph predict --json --topology ring --peers 16 --hessian 1,0.5,0.25,0.1 --rate 0.1 "
      "--spread 1 --order gradient-tracking");
  ASSERT_EQ(a.code, 0) << a.err;
  const auto values = ReadJson::parse(a.output());
  EXPECT_NEAR(values.at("consensus").get<double>(), 0.029055, 5e-7);
  EXPECT_NEAR(values.at("stability_limit").get<double>(), 2, 1e-9);
  EXPECT_EQ(a.err, "");
}

TEST_F(GraphCommand, SaysBetweenWhichRatesD2IsStable) {
  const std::string torus = "graph predict --topology torus:4x4 --peers 16 --order d2 --rate 0.1";
  const Ended a = grapevine(torus);
  ASSERT_EQ(a.code, 0) << a.err;
  EXPECT_NE(a.output().find("stable      at rates between 0.6667 and 2"), std::string::npos)
      << a.output();
  EXPECT_NE(a.err.find("rate 0.1 is not above 0.666667"), std::string::npos) << a.err;
  EXPECT_NE(a.err.find("no fleet can run this: d2 diverges when lambda_n <= -1/3"),
            std::string::npos)
      << a.err;
  EXPECT_EQ(grapevine(torus + " --weights lazy").err, "");
  const Ended none = grapevine(torus + " --hessian 1,0.1");
  EXPECT_NE(none.output().find("stable      at no rate"), std::string::npos) << none.output();
}

/// A slow but stable schedule was once called divergent.
TEST_F(GraphCommand, SaysWhenAScheduleTakesTooLongToFollow) {
  const Ended slow = grapevine("graph predict --json --topology matcha:graph=path --peers 160");
  ASSERT_EQ(slow.code, 0) << slow.err;
  EXPECT_NE(slow.err.find("is not followed to its end"), std::string::npos) << slow.err;
  const auto values = ReadJson::parse(slow.output());
  EXPECT_TRUE(values.at("stable").get<bool>());
  EXPECT_TRUE(values.at("consensus").is_null());
  const Ended fast =
      grapevine("graph predict --json --topology base:k=1 --peers 24 --rate 2.1 --order atc");
  EXPECT_NE(fast.err.find("rate 2.1 is beyond the stability limit 2 of order atc on base:k=1"),
            std::string::npos)
      << fast.err;
  EXPECT_FALSE(ReadJson::parse(fast.output()).at("stable").get<bool>());
}

/// The fleet was once called stable between its two stable intervals.
TEST_F(GraphCommand, SaysWhichRatesAreStableWhereTheyAreNoInterval) {
  const std::string file = path("seven.edges");
  std::ofstream(file) << "0 1\n0 2\n0 4\n0 5\n0 6\n1 5\n2 4\n3 6\n4 5\n5 6\n";
  const std::string seven =
      "graph predict --topology file:" + file + " --peers 7 --momentum 0.9 --local-steps 2 --rate ";
  const Ended a = grapevine(seven + "1.2");
  ASSERT_EQ(a.code, 0) << a.err;
  EXPECT_NE(a.output().find("stable      at rates below 0.9462 and between 1.79 and 2.807\n"),
            std::string::npos)
      << a.output();
  EXPECT_NE(a.err.find("rate 1.2 is not stable: the stable ones of order lian on"),
            std::string::npos)
      << a.err;
  const auto between = ReadJson::parse(grapevine(seven + "1.2 --json").output());
  EXPECT_FALSE(between.at("stable").get<bool>());
  EXPECT_TRUE(between.at("consensus").is_null());
  ASSERT_EQ(between.at("stable_rates").size(), 2U);
  EXPECT_EQ(between.at("stability_limit"), between.at("stable_rates")[0][1]);
  EXPECT_TRUE(ReadJson::parse(grapevine(seven + "2 --json").output()).at("stable").get<bool>());
}

/// Predicts near the limit, and with momentum beyond the limit of the method without it.
TEST_F(GraphCommand, PredictsGivenMinimaUpToTheLimit) {
  const std::string file = path("five.txt");
  std::ofstream(file) << "0.1\n1\n-1\n0.5\n0.2\n";
  for (const char* order :
       {"lian --rate 1.3333", "atc --rate 1.9999", "decentlam --momentum 0.9 --rate 2.5"}) {
    const Ended said = grapevine(
        fmt::format("graph predict --json --topology complete --peers 5 --weights lazy --spread {} "
                    "--order {}",
                    file, order));
    ASSERT_EQ(said.code, 0) << said.err;
    EXPECT_EQ(said.err, "");
    EXPECT_GT(ReadJson::parse(said.output()).at("consensus").get<double>(), 0) << order;
  }
}

/// Such a matrix was once refused as weights, but predicted as a schedule of one round.
TEST_F(GraphCommand, PredictsADirectedMatrixThatIsNotNormal) {
  const std::string file = path("directed.txt");
  std::ofstream(file) << "0.5 0.5 0 0\n0 0.25 0.5 0.25\n0.5 0 0.25 0.25\n0 0.25 0.25 0.5\n";
  const std::string rest = " --peers 4 --spread 1 --rate 0.3 --momentum 0.5 --local-steps 2";
  const Ended schedule = grapevine("graph predict --json --topology matrices:" + file + rest);
  ASSERT_EQ(schedule.code, 0) << schedule.err;
  const auto rounds = ReadJson::parse(schedule.output());
  EXPECT_GT(rounds.at("consensus").get<double>(), 0);
  EXPECT_EQ(rounds.at("stable_rates").size(), 1U);
  const Ended d2 = grapevine("graph predict --topology matrices:" + file + " --peers 4 --order d2");
  EXPECT_EQ(d2.code, 2);
}

/// Disconnected parts were once called stable below 2.
TEST_F(GraphCommand, RefusesRoundsThatConnectNobody) {
  const std::string file = path("apart.txt");
  std::ofstream(file) << "0.5 0.5 0 0\n0.5 0.5 0 0\n0 0 0.5 0.5\n0 0 0.5 0.5\n"
                         "1 0 0 0\n0 1 0 0\n0 0 0.5 0.5\n0 0 0.5 0.5\n";
  const Ended apart = grapevine("graph predict --topology matrices:" + file + " --peers 4");
  EXPECT_EQ(apart.code, 2);
  EXPECT_NE(apart.err.find(
                "is not connected: some peers would never receive anything from some others; 2 "
                "components: {0 1} {2 3}"),
            std::string::npos)
      << apart.err;
}

TEST_F(GraphCommand, PredictKnowsEverySchedule) {
  for (const char* schedule : {"one-peer-exponential", "random-matching", "base:k=2",
                               "od-equi-dyn:m=3", "ou-equi-dyn", "matcha:graph=ring"}) {
    const Ended said = grapevine(fmt::format(
        "graph predict --json --topology {} --peers 9 --spread 1 --order atc", schedule));
    EXPECT_EQ(said.code, 0) << said.err;
    const ReadJson row = ReadJson::parse(said.output());
    EXPECT_GT(row.at("excess_local").get<double>(), row.at("excess_mean").get<double>());
  }
  EXPECT_EQ(grapevine("graph predict --json --topology base:k=1 --peers 9 --order d2").code, 2);
}

}  // namespace
}  // namespace gv
