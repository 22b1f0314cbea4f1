#include <fstream>

#include "graph/formats/graph_file.h"
#include "peer/fleet/fleet.h"
#include "tests/peer/cli/graph_fixture.h"
#include "tests/text_of.h"

namespace gv {
namespace {

TEST_F(GraphCommand, ReportsALine) {
  const Ended a = grapevine(
      "graph report --topology random-regular:degree=3,seed=1,ring --peers 16 --json --more");
  ASSERT_EQ(a.code, 0) << a.err;
  const auto rows = ReadJson::parse(a.output()).at("rows");
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].at("topology"), "random-regular:degree=3,seed=1");
  EXPECT_EQ(rows[0].at("method"), "dense");
  EXPECT_NEAR(rows[1].at("s1_lian").get<double>(), 2.409575, 6e-7);
  EXPECT_NEAR(rows[1].at("s1_atc").get<double>(), 1.472075, 6e-7);
  EXPECT_NEAR(rows[1].at("n_eff").get<double>(), 13.119095, 6e-7);
  EXPECT_GE(rows[1].at("seconds").get<double>(), 0);
  EXPECT_EQ(rows[1].at("conductance").size(), 2U);
}

/// Half a trillion edges are counted without a graph in memory. Each peer takes the mean of all,
/// which removes the noise at once, so only the noise of a peer's own last step is left. The
/// formulas agree with those of a graph that is built.
TEST_F(GraphCommand, ReportsACompleteGraphOfAMillionPeers) {
  const auto row = [&](const std::string& more) {
    const Ended a = grapevine("graph report --topology complete --json --more " + more);
    EXPECT_EQ(a.code, 0) << a.err;
    return ReadJson::parse(a.output()).at("rows").at(0);
  };
  const ReadJson large = row("--peers 1000000");
  EXPECT_EQ(large.at("topology"), "complete");
  EXPECT_EQ(large.at("peers"), 1'000'000);
  EXPECT_EQ(large.at("edges"), 499'999'500'000);
  EXPECT_EQ(large.at("degree_min"), 999'999);
  EXPECT_EQ(large.at("diameter"), 1);
  EXPECT_EQ(large.at("gap"), 1);
  EXPECT_EQ(large.at("method"), "closed form");
  EXPECT_NEAR(large.at("n_eff").get<double>(), 1e6, 1);
  EXPECT_EQ(row("--peers 1000000 --weights lazy").at("gap"), 0.5);
  const ReadJson counted = row("--peers 501");
  const ReadJson built = row("--peers 500");
  for (const char* key : {"lambda2", "lambda_n", "slem", "gap", "diameter", "connected", "method"})
    EXPECT_EQ(counted.at(key), built.at(key)) << key;
  EXPECT_EQ(counted.at("s1_atc"), built.at("s1_atc"));
  for (const char* key : {"n_eff", "s1_lian"})
    EXPECT_NEAR(counted.at(key).get<double>() / built.at(key).get<double>(), 1, 1e-2) << key;
  const Ended page =
      grapevine("graph report --topology complete --peers 1000000 --html " + path("large.html"));
  EXPECT_EQ(page.code, 0) << page.err;
}

/// Section 5.3's three peers have no doubly stochastic weights, so push-sum is offered. With equal
/// degrees push-sum is a column.
TEST_F(GraphCommand, KnowsPushSumOnDirectedGraphs) {
  const std::string file = path("three.dot");
  std::ofstream(file) << "digraph g { 0 -> 1; 1 -> 2; 2 -> 0; 2 -> 1; }\n";
  const Ended refused = grapevine("graph report --edges " + file);
  EXPECT_EQ(refused.code, 2);
  EXPECT_NE(refused.err.find("push-sum, which needs no such weights, would average here: by "
                             "0.288675 per round in the end, its w between 0.6667 and 1.333"),
            std::string::npos)
      << refused.err;
  const Ended a = grapevine("graph report --topology exponential --peers 8 --more --json");
  const ReadJson row = ReadJson::parse(a.output()).at("rows").at(0);
  EXPECT_NEAR(row.at("push_sum_rate").get<double>(), 0.5, 1e-12);
  EXPECT_EQ(row.at("perron").size(), 8U);
}

TEST_F(GraphCommand, WritesAPageBesideTheTable) {
  const std::string file = path("graphs.html");
  const Ended a = grapevine("graph report --topology ring,torus:4x4 --peers 16 --html " + file);
  ASSERT_EQ(a.code, 0) << a.err;
  EXPECT_NE(a.output().find("torus:4x4"), std::string::npos);
  EXPECT_NE(a.err.find("page: " + file), std::string::npos);
  const std::string page = text_of(file);
  EXPECT_TRUE(page.ends_with("</html>\n"));
  EXPECT_NE(page.find("0.949253"), std::string::npos);
}

/// The error names the fault in a user's graph, with the number and the remedy.
TEST_F(GraphCommand, NameWhatIsWrongWithAFile) {
  struct Wrong {
    const char* file;
    const char* text;
    const char* says;
  };
  for (const Wrong& wrong :
       {Wrong{"islands.edges", "0 1\n1 2\n3 4\n", "2 components: {0 1 2} {3 4}"},
        Wrong{"loop.edges", "0 1\n1 1\n", "loop.edges:2: peer 1 cannot be its own neighbour"},
        Wrong{"twice.edges", "0 1 .3\n1 0 .2\n",
              "twice.edges:2: the edge 1 0 was given before with another weight"},
        Wrong{"gap.edges", "0 1\n1 5\n5 0\n", "peer 2 is missing"}}) {
    const std::string file = path(wrong.file);
    std::ofstream(file) << wrong.text;
    const Ended said = grapevine("graph report --topology file:" + file);
    EXPECT_NE(said.err.find(wrong.says), std::string::npos) << said.err;
    if (wrong.file != std::string("islands.edges")) {
      EXPECT_EQ(said.code, 2);
    }
  }
  const Ended said = grapevine("graph report --topology ring");
  EXPECT_EQ(said.code, 2);
  EXPECT_NE(said.err.find("--topology ring needs --peers N"), std::string::npos) << said.err;
}

/// A bad file is the user's mistake in each command: exit code 2, and the name of the file.
TEST_F(GraphCommand, EndWithWrongUsageOnABadFile) {
  const std::string bad = path("bad.npy");
  std::ofstream(bad) << "0 1";
  const std::string fleet = path("fleet.yaml");
  for (const char* topology : {"topology: { kind: file, file: bad.npy }",
                               "topology: { kind: ring, weights: 'file:bad.npy' }",
                               "topology: 'matcha:graph=file:bad.npy'"}) {
    std::ofstream(fleet) << "version: 1\nname: test\npeers: 4\n"
                            "data: { kind: quadratic, dimension: 8, noise: 1, spread: 1 }\n"
                            "model: quadratic\nstop: { rounds: 10 }\n"
                         << topology << '\n';
    for (const char* command : {"run ", "simulate ", "plan "}) {
      const Ended said = grapevine(command + fleet);
      EXPECT_EQ(said.code, 2) << command << topology << said.err;
      EXPECT_NE(said.err.find("not a .npy file"), std::string::npos) << said.err;
    }
  }
  for (const char* command :
       {"graph report --edges {0}", "graph report --topology file:{0}",
        "graph report --topology ring --peers 4 --weights file:{0}",
        "graph report --topology exponential --peers 4 --weights file:{0}",
        "graph report --edges {0}.missing", "graph report --edges /dev/zero",
        "graph export --edges {0}", "graph export --topology ring --peers 4 --weights file:{0}",
        "graph predict --peers 4 --topology file:{0}", "graph predict --peers 4 --weights file:{0}",
        "graph predict --peers 4 --spread {0}", "graph predict --peers 4 --spread /dev/zero",
        "graph schedule --peers 4 matcha:graph=file:{0}"}) {
    const Ended said = grapevine(fmt::format(fmt::runtime(command), bad));
    EXPECT_EQ(said.code, 2) << command << said.err;
    EXPECT_EQ(said.err.find("push-sum"), std::string::npos) << said.err;
  }
}

TEST_F(GraphCommand, RefusesBadInputWithTheRemedy) {
  const std::pair<const char*, const char*> rows[] = {
      {"report --topology ring,trous --peers 9", "did you mean `torus`"},
      {"report --topology ring --peers 9 --discount 1.5", "1.5"},
      {"report --topology ring,base:k=2 --peers 9", "graph schedule base:k=2"},
      {"predict --topology ring --peers 9 --order nail", "lian, atc, cta"},
      {"predict --topology ring --peers 9 --momentum 1", "[0, 1)"},
      {"predict --topology ring --peers 9 --spread nowhere", "neither a variance"},
      {"predict --topology star --peers 9 --staleness 1", "ring, torus and hypercube"}};
  for (const auto& [arguments, remedy] : rows) {
    const Ended a = grapevine(std::string("graph ") + arguments);
    EXPECT_NE(a.code, 0);
    EXPECT_NE(a.err.find(remedy), std::string::npos) << a.err;
  }
}

TEST_F(GraphCommand, ExportConvertsBetweenAllFormats) {
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
  const Ended report = grapevine("graph report --edges " + last + " --weights edge-list --json");
  ASSERT_EQ(report.code, 0) << report.err;
  EXPECT_EQ(ReadJson::parse(report.output()).at("rows").at(0).at("edges"), 17);
}

TEST_F(GraphCommand, ExportNeedsOneGraph) {
  EXPECT_NE(grapevine("graph export").code, 0);
  EXPECT_NE(grapevine("graph export --topology ring").err.find("--peers"), std::string::npos);
  EXPECT_NE(grapevine("graph export --topology ring --peers 4 --format gif").code, 0);
}

TEST_F(GraphCommand, FleetsTakeTheFilesAndHearOfUnstableRates) {
  ASSERT_EQ(grapevine("graph export --topology ring --peers 4 -o " + path("g.graphml")).code, 0);
  const std::string fleet = path("fleet.yaml");
  std::ofstream(fleet) << "version: 1\nname: test\npeers: 4\n"
                          "data: { kind: quadratic, dimension: 8, noise: 1, spread: 1 }\n"
                          "model: quadratic\n"
                          "topology: { kind: file, file: g.graphml, weights: fdla }\n"
                          "stop: { rounds: 10 }\n";
  std::vector<std::string> notices;
  EXPECT_TRUE(read_fleet(fleet, {}, &notices).topology.is_file());
  ASSERT_EQ(notices.size(), 1U);
  EXPECT_NE(notices[0].find("below 0.667 / L"), std::string::npos) << notices[0];
}

}  // namespace
}  // namespace gv
