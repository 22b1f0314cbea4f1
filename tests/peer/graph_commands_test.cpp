#include <cstdio>
#include <filesystem>
#include <fstream>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sys/wait.h>
#include <unistd.h>

#include "graph/formats/format.h"
#include "peer/fleet/fleet.h"

namespace gv {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

struct Said {
  int code = -1;
  std::string text;  ///< both streams
};

Said grapevine(const std::string& arguments) {
  Said said;
  FILE* pipe = popen(fmt::format("{} {} 2>&1", GV_BINARY, arguments).c_str(), "r");
  char buffer[4096];
  while (const std::size_t got = fread(buffer, 1, sizeof buffer, pipe))
    said.text.append(buffer, got);
  const int status = pclose(pipe);
  said.code = WIFEXITED(status) ? WEXITSTATUS(status) : 1000;
  return said;
}

/// A folder of its own.
class GraphCommands : public testing::Test {
 protected:
  GraphCommands() : folder_(fs::path(testing::TempDir()) / fmt::format("graph-{}", getpid())) {
    fs::create_directories(folder_);
  }
  ~GraphCommands() override { fs::remove_all(folder_); }
  std::string path(const std::string& name) const { return (folder_ / name).string(); }

 private:
  fs::path folder_;
};

/// What is wrong with a user's graph, with the number and the remedy.
TEST_F(GraphCommands, NameWhatIsWrongWithAFile) {
  struct Wrong {
    const char* file;
    const char* text;
    const char* says;
  };
  for (const Wrong& wrong :
       {Wrong{"islands.edges", "0 1\n1 2\n3 4\n", "2 components: {0 1 2} {3 4}"},
        Wrong{"loop.edges", "0 1\n1 1\n", "loop.edges:2: peer 1 cannot be its own neighbour"},
        Wrong{"twice.edges",
              "0 1 .3\n1 0 .2\n",
              "twice.edges:2: the edge 1 0 was given before with another weight"},
        Wrong{"gap.edges", "0 1\n1 5\n5 0\n", "peer 2 is missing"}}) {
    const std::string file = path(wrong.file);
    std::ofstream(file) << wrong.text;
    const Said said = grapevine("graph report --topology file:" + file);
    EXPECT_NE(said.text.find(wrong.says), std::string::npos) << said.text;
  }
  const Said said = grapevine("graph report --topology ring");
  EXPECT_EQ(said.code, 2);
  EXPECT_NE(said.text.find("--topology ring needs --peers N"), std::string::npos) << said.text;
}

TEST_F(GraphCommands, PredictKnowsEverySchedule) {
  for (const char* schedule : {"one-peer-exponential",
                               "random-matching",
                               "base:k=2",
                               "od-equi-dyn:m=3",
                               "ou-equi-dyn",
                               "matcha:graph=ring"}) {
    const Said said = grapevine(
        fmt::format("graph predict --topology {} --peers 9 --spread 1 --order atc", schedule));
    EXPECT_EQ(said.code, 0) << said.text;
    const Json row = Json::parse(said.text);
    EXPECT_GT(row.at("excess_local").get<double>(), row.at("excess_mean").get<double>());
  }
  EXPECT_EQ(grapevine("graph predict --topology base:k=1 --peers 9 --order d2").code, 2);
}

TEST_F(GraphCommands, ExportConvertsBetweenAllFormats) {
  const std::string first = path("a.edges");
  ASSERT_EQ(
      grapevine("graph export --topology grid:3x4 --peers 12 --weights fmmc -o " + first).code, 0);
  const Topology t = read_graph(first);
  EXPECT_EQ(t.edges().size(), 17U);
  std::string last = first;
  for (const char* extension : {"json", "dot", "graphml", "npy"}) {
    const std::string next = path(fmt::format("a.{}", extension));
    ASSERT_EQ(grapevine(fmt::format("graph export --edges {} -o {}", last, next)).code, 0);
    last = next;
    const Topology back = read_graph(next);
    EXPECT_EQ(back.neighbors, t.neighbors) << extension;
    EXPECT_EQ(back.edge_weights, t.edge_weights) << extension;
  }
  const Said report = grapevine("graph report --edges " + last + " --weights edge-list --json");
  ASSERT_EQ(report.code, 0) << report.text;
  EXPECT_EQ(Json::parse(report.text).at("rows").at(0).at("edges"), 17);
}

TEST_F(GraphCommands, ExportNeedsOneGraph) {
  EXPECT_NE(grapevine("graph export").code, 0);
  EXPECT_NE(grapevine("graph export --topology ring").text.find("--peers"), std::string::npos);
  EXPECT_NE(grapevine("graph export --topology ring --peers 4 --format gif").code, 0);
}

TEST_F(GraphCommands, BestKeepsTheDegree) {
  const Said said = grapevine("graph best --peers 16 --max-degree 4 --schedules --json");
  ASSERT_EQ(said.code, 0) << said.text;
  const Json rows = Json::parse(said.text).at("rows");
  ASSERT_EQ(rows.size(), 10U);
  for (const Json& row : rows) EXPECT_LE(row.at("neighbors_most"), 4);
  EXPECT_EQ(rows[0].at("kind"), "schedule");
}

/// One-peer exponential averages exactly in four rounds, but keeps more noise than four neighbours.
TEST_F(GraphCommands, BestByThePredictorSaysWhy) {
  const Said said = grapevine(
      "graph best --peers 16 --max-degree 4 --schedules --hessian 1,0.5,0.25,0.1 --rate 0.1 "
      "--json");
  ASSERT_EQ(said.code, 0) << said.text;
  const Json json = Json::parse(said.text);
  EXPECT_EQ(json.at("measure"), "excess_loss_local");
  const Json& rows = json.at("rows");
  EXPECT_EQ(rows[0].at("kind"), "topology");
  double before = 0;
  for (const Json& row : rows) {
    const double score = row.at("score");
    EXPECT_GE(score, before);
    before = score;
  }
  const std::string reason = json.at("reason");
  EXPECT_NE(reason.find("largest gap here is that of base:k=3"), std::string::npos) << reason;
}

TEST_F(GraphCommands, ScheduleKnowsExactAveraging) {
  const Said said = grapevine("graph schedule base:k=2 ou-equi-dyn --peers 25 --json");
  ASSERT_EQ(said.code, 0) << said.text;
  const Json rows = Json::parse(said.text).at("rows");
  EXPECT_EQ(rows[0].at("product"), 0);
  EXPECT_EQ(rows[0].at("rounds_to_thousandth"), rows[0].at("period"));
  EXPECT_GT(rows[1].at("kappa_error"), 0);
}

TEST_F(GraphCommands, ListNamesWeightsAndSchedules) {
  const Json list = Json::parse(grapevine("graph list --json").text);
  EXPECT_EQ(list.at("schema"), "grapevine.graph-list/1");
  EXPECT_EQ(list.at("schedules").at(0).at("schedule"), "one-peer-exponential");
  EXPECT_EQ(list.at("weights").at(4), "fdla");
}

TEST_F(GraphCommands, FleetsTakeTheFilesAndHearOfUnstableRates) {
  ASSERT_EQ(grapevine("graph export --topology ring --peers 4 -o " + path("g.graphml")).code, 0);
  const std::string fleet = path("fleet.yaml");
  std::ofstream(fleet) << "version: 1\nname: test\npeers: 4\n"
                          "data: { kind: quadratic, dimension: 8, noise: 1, spread: 1 }\n"
                          "model: quadratic\n"
                          "topology: { kind: file, file: g.graphml, weights: fdla }\n"
                          "stop: { rounds: 10 }\n";
  std::vector<std::string> notices;
  EXPECT_EQ(read_fleet(fleet, {}, &notices).topology.kind, "file");
  ASSERT_EQ(notices.size(), 1U);
  EXPECT_NE(notices[0].find("below 0.667 / L"), std::string::npos) << notices[0];
}

}  // namespace
}  // namespace gv
