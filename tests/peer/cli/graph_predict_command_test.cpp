#include <fstream>

#include "tests/peer/cli/graph_fixture.h"

namespace gv {
namespace {

TEST_F(GraphCommand, PredictsAQuadratic) {
  const Ended a = grapevine(
      "graph predict --json --topology ring --peers 16 --hessian 1,0.5,0.25,0.1 --rate 0.1 --order "
      "atc");
  ASSERT_EQ(a.code, 0) << a.err;
  const auto values = Json::parse(a.output());
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
  EXPECT_NEAR(Json::parse(a.output()).at("consensus").get<double>(), 2 * 0.017013232514 / 4, 1e-12);
}

TEST_F(GraphCommand, WarnsBeyondTheStabilityLimit) {
  const Ended a = grapevine("graph predict --json --topology ring --peers 16 --rate 0.7");
  ASSERT_EQ(a.code, 0) << a.err;
  EXPECT_NE(a.err.find("beyond the stability limit 0.666667"), std::string::npos) << a.err;
  EXPECT_TRUE(Json::parse(a.output()).at("consensus").is_null());
}

/// It was of another method, and D2's limit was one where `plan` refuses the fleet.
TEST_F(GraphCommand, PredictsTrackingAsItRuns) {
  const Ended a = grapevine(
      "graph predict --json --topology ring --peers 16 --hessian 1,0.5,0.25,0.1 --rate 0.1 "
      "--spread 1 --order gradient-tracking");
  ASSERT_EQ(a.code, 0) << a.err;
  const auto values = Json::parse(a.output());
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
  EXPECT_NE(a.err.find("no fleet runs this: d2 diverges when lambda_n <= -1/3"), std::string::npos)
      << a.err;
  EXPECT_EQ(grapevine(torus + " --weights lazy").err, "");
  const Ended none = grapevine(torus + " --hessian 1,0.1");
  EXPECT_NE(none.output().find("stable      at no rate"), std::string::npos) << none.output();
}

/// A followed schedule that is stable but slow once was called divergent.
TEST_F(GraphCommand, SaysWhenAScheduleTakesTooLongToFollow) {
  const Ended slow = grapevine("graph predict --json --topology matcha:graph=path --peers 160");
  ASSERT_EQ(slow.code, 0) << slow.err;
  EXPECT_NE(slow.err.find("is not followed to its end"), std::string::npos) << slow.err;
  const auto values = Json::parse(slow.output());
  EXPECT_TRUE(values.at("stable").get<bool>());
  EXPECT_TRUE(values.at("consensus").is_null());
  const Ended fast =
      grapevine("graph predict --json --topology base:k=1 --peers 24 --rate 2.1 --order atc");
  EXPECT_NE(fast.err.find("rate 2.1 is beyond the stability limit 2 of order atc on base:k=1"),
            std::string::npos)
      << fast.err;
  EXPECT_FALSE(Json::parse(fast.output()).at("stable").get<bool>());
}

TEST_F(GraphCommand, PredictKnowsEverySchedule) {
  for (const char* schedule : {"one-peer-exponential",
                               "random-matching",
                               "base:k=2",
                               "od-equi-dyn:m=3",
                               "ou-equi-dyn",
                               "matcha:graph=ring"}) {
    const Ended said = grapevine(fmt::format(
        "graph predict --json --topology {} --peers 9 --spread 1 --order atc", schedule));
    EXPECT_EQ(said.code, 0) << said.err;
    const Json row = Json::parse(said.output());
    EXPECT_GT(row.at("excess_local").get<double>(), row.at("excess_mean").get<double>());
  }
  EXPECT_EQ(grapevine("graph predict --json --topology base:k=1 --peers 9 --order d2").code, 2);
}

}  // namespace
}  // namespace gv
