#include <cstdio>
#include <fstream>
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace gv {
namespace {

/// Runs `grapevine graph ...` as a user would.
struct Answer {
  int status;
  std::string out, err;
};
Answer graph(const std::string& arguments) {
  const std::string errors = ::testing::TempDir() + "graph_command.err";
  FILE* pipe = ::popen((GV_BINARY " graph " + arguments + " 2>" + errors).c_str(), "r");
  Answer answer{0, "", ""};
  for (int c = std::fgetc(pipe); c != EOF; c = std::fgetc(pipe))
    answer.out.push_back(static_cast<char>(c));
  answer.status = ::pclose(pipe);
  std::ifstream in(errors);
  answer.err.assign(std::istreambuf_iterator<char>(in), {});
  return answer;
}

TEST(GraphCommand, ReportsALine) {
  const Answer a =
      graph("report --topology random-regular:degree=3,seed=1,ring --peers 16 --json --more");
  ASSERT_EQ(a.status, 0) << a.err;
  const auto rows = nlohmann::json::parse(a.out).at("rows");
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].at("topology"), "random-regular:degree=3,seed=1");
  EXPECT_EQ(rows[0].at("method"), "dense");
  EXPECT_NEAR(rows[1].at("s1_lian").get<double>(), 2.409575, 6e-7);
  EXPECT_NEAR(rows[1].at("s1_atc").get<double>(), 1.472075, 6e-7);
  EXPECT_NEAR(rows[1].at("n_eff").get<double>(), 13.119095, 6e-7);
  EXPECT_GE(rows[1].at("seconds").get<double>(), 0);
  EXPECT_EQ(rows[1].at("conductance").size(), 2U);
}

TEST(GraphCommand, WritesAPageBesideTheTable) {
  const std::string path = ::testing::TempDir() + "graphs.html";
  const Answer a = graph("report --topology ring,torus:4x4 --peers 16 --html " + path);
  ASSERT_EQ(a.status, 0) << a.err;
  EXPECT_NE(a.out.find("torus:4x4"), std::string::npos);
  EXPECT_NE(a.err.find("page: " + path), std::string::npos);
  std::ifstream in(path);
  const std::string page(std::istreambuf_iterator<char>(in), {});
  EXPECT_TRUE(page.ends_with("</html>\n"));
  EXPECT_NE(page.find("0.949253"), std::string::npos);
}

TEST(GraphCommand, PredictsAQuadratic) {
  const Answer a =
      graph("predict --topology ring --peers 16 --hessian 1,0.5,0.25,0.1 --rate 0.1 --order atc");
  ASSERT_EQ(a.status, 0) << a.err;
  const auto values = nlohmann::json::parse(a.out);
  EXPECT_NEAR(values.at("consensus").get<double>(), 0.03968, 6e-6);
  EXPECT_NEAR(values.at("excess_mean").get<double>(), 0.00640, 6e-6);
  EXPECT_NEAR(values.at("excess_local").get<double>(), 0.01408, 6e-6);
  EXPECT_EQ(a.err, "");
}

/// The minima of section 5.3's ring of 4, from a file.
TEST(GraphCommand, PredictsTheBiasOfGivenMinima) {
  const std::string path = ::testing::TempDir() + "minima.txt";
  std::ofstream(path) << "# b_i\n0\n1\n0\n-1\n";
  const Answer a = graph("predict --topology ring --peers 4 --noise 0 --spread " + path);
  ASSERT_EQ(a.status, 0) << a.err;
  EXPECT_NEAR(
      nlohmann::json::parse(a.out).at("consensus").get<double>(), 2 * 0.017013232514 / 4, 1e-12);
}

TEST(GraphCommand, WarnsBeyondTheStabilityLimit) {
  const Answer a = graph("predict --topology ring --peers 16 --rate 0.7");
  ASSERT_EQ(a.status, 0) << a.err;
  EXPECT_NE(a.err.find("beyond the stability limit 0.666667"), std::string::npos) << a.err;
  EXPECT_TRUE(nlohmann::json::parse(a.out).at("consensus").is_null());
}

/// A followed schedule that is stable but slow once was called divergent.
TEST(GraphCommand, SaysWhenAScheduleTakesTooLongToFollow) {
  const Answer slow = graph("predict --topology matcha:graph=path --peers 160");
  ASSERT_EQ(slow.status, 0) << slow.err;
  EXPECT_NE(slow.err.find("is not followed to its end"), std::string::npos) << slow.err;
  const auto values = nlohmann::json::parse(slow.out);
  EXPECT_TRUE(values.at("stable").get<bool>());
  EXPECT_TRUE(values.at("consensus").is_null());
  const Answer fast = graph("predict --topology base:k=1 --peers 24 --rate 2.1 --order atc");
  EXPECT_NE(fast.err.find("rate 2.1 is beyond the stability limit 2 of order atc on base:k=1"),
            std::string::npos)
      << fast.err;
  EXPECT_FALSE(nlohmann::json::parse(fast.out).at("stable").get<bool>());
}

TEST(GraphCommand, RefusesBadInputWithTheRemedy) {
  const auto error = [](const std::string& arguments) {
    const Answer a = graph(arguments);
    EXPECT_NE(a.status, 0);
    return a.err;
  };
  const auto contains = [](const std::string& text, const std::string& part) {
    EXPECT_NE(text.find(part), std::string::npos) << text;
  };
  contains(error("report --topology ring,trous --peers 9"), "did you mean `torus`");
  contains(error("report --topology ring --peers 9 --discount 1.5"), "1.5");
  contains(error("predict --topology ring --peers 9 --order nail"), "lian, atc, cta");
  contains(error("predict --topology ring --peers 9 --momentum 1"), "[0, 1)");
  contains(error("predict --topology ring --peers 9 --spread nowhere"), "neither a variance");
  contains(error("predict --topology star --peers 9 --staleness 1"), "ring, torus and hypercube");
}

}  // namespace
}  // namespace gv
