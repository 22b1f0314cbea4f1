#include "graph/topology/topology.h"

#include <fstream>

#include <gtest/gtest.h>

#include "graph/formats/graph_file.h"
#include "graph/topologies.h"
#include "tests/scratch_folder.h"

namespace gv {
namespace {

TEST(Topology, HasTheDegreesOfItsFamily) {
  EXPECT_EQ(build(parse_topology("ring"), 8).edges().size(), 8U);
  EXPECT_EQ(build(parse_topology("ring"), 2).edges().size(), 1U);
  EXPECT_EQ(build(parse_topology("path"), 8).edges().size(), 7U);
  EXPECT_EQ(build(parse_topology("star"), 8).neighbors[0].size(), 7U);
  EXPECT_EQ(build(parse_topology("complete"), 8).edges().size(), 28U);
  EXPECT_EQ(build(parse_topology("torus:4x4"), 16).edges().size(), 32U);
  EXPECT_EQ(build(parse_topology("grid:3x4"), 12).edges().size(), 17U);
  EXPECT_EQ(build(parse_topology("hypercube"), 16).edges().size(), 32U);
  EXPECT_EQ(build(parse_topology("king-torus:4x5"), 20).neighbors[7].size(), 8U);
  EXPECT_EQ(build(parse_topology("ring-lattice:k=6"), 20).neighbors[7].size(), 6U);
  EXPECT_EQ(build(parse_topology("binary-tree"), 20).edges().size(), 19U);
  EXPECT_EQ(build(parse_topology("d-equi-static:m=3"), 100).neighbors[7].size(), 3U);
  EXPECT_EQ(build(parse_topology("u-equi-static:m=3"), 100).neighbors[7].size(), 6U);
  EXPECT_EQ(build(parse_topology("symmetric-exponential"), 16).neighbors[3].size(), 7U);
  EXPECT_EQ(build(parse_topology("exponential"), 16).neighbors[3].size(), 4U);
}

TEST(Topology, RandomRegularIsRegularConnectedAndRepeatable) {
  for (const PeerId n : {8U, 64U, 500U}) {
    const Topology t = build(parse_topology("random-regular:degree=3,seed=5"), n);
    for (const auto& neighbors : t.neighbors) EXPECT_EQ(neighbors.size(), 3U);
    EXPECT_TRUE(is_connected(t));
    EXPECT_EQ(t.neighbors, build(parse_topology("random-regular:degree=3,seed=5"), n).neighbors);
  }
}

/// Pairing half-edges would nearly always fail here: degrees up to the complete graph's.
TEST(Topology, RandomRegularOfAHighDegree) {
  for (const PeerId degree : {127U, 128U, 192U, 254U, 255U}) {
    const std::string text = "random-regular:degree=" + std::to_string(degree) + ",seed=2";
    const Topology t = build(parse_topology(text), 256);
    for (const auto& neighbors : t.neighbors) EXPECT_EQ(neighbors.size(), degree);
    EXPECT_TRUE(is_connected(t));
  }
}

TEST(Topology, DiameterOfKnownGraphs) {
  EXPECT_EQ(diameter(build(parse_topology("ring"), 9)), 4);
  EXPECT_EQ(diameter(build(parse_topology("path"), 9)), 8);
  EXPECT_EQ(diameter(build(parse_topology("hypercube"), 32)), 5);
  EXPECT_EQ(diameter(make_topology("two islands", 4, {{0, 1}, {2, 3}})), -1);
}

TEST(Topology, NamesItsComponents) {
  const Topology t = make_topology("islands", 7, {{0, 1}, {2, 3}, {3, 5}, {5, 6}});
  EXPECT_EQ(components(t), (std::vector<std::vector<PeerId>>{{2, 3, 5, 6}, {0, 1}, {4}}));
  EXPECT_NE(disconnection(t).find("3 components: {2 3 5 6} {0 1} {4}"), std::string::npos);
  EXPECT_THROW(require_connected(t), std::invalid_argument);
  EXPECT_EQ(disconnection(build(parse_topology("ring"), 5)), "");
  Topology one_way{.name = "one-way", .directed = true, .neighbors = {{}, {0}}, .edge_weights = {}};
  EXPECT_NE(disconnection(one_way).find("not strongly connected"), std::string::npos);
}

TEST(Topology, RefusesTheImpossibleWithBothNumbers) {
  const auto message = [](const char* text, PeerId n) -> std::string {
    try {
      build(parse_topology(text), n);
    } catch (const std::invalid_argument& e) {
      return e.what();
    }
    return "";
  };
  EXPECT_EQ(message("torus:4x4", 15), "torus 4x4 has 16 peers, the fleet has 15");
  EXPECT_NE(message("random-regular:degree=3", 7).find("must be even"), std::string::npos);
  EXPECT_NE(message("random-regular:degree=8", 8).find("smaller"), std::string::npos);
  EXPECT_NE(message("hypercube", 12).find("power of two"), std::string::npos);
  EXPECT_NE(message("rign", 12).find("did you mean `ring`"), std::string::npos);
  EXPECT_NE(message("ring:degree=3", 12).find("no parameter"), std::string::npos);
}

TEST(Topology, NamesRoundTrip) {
  for (const char* text : {"ring", "torus:4x8", "random-regular:degree=4,seed=9",
                           "erdos-renyi:p=0.25,seed=2", "king-torus:3x5", "ring-lattice:k=6",
                           "u-equi-static:m=4,seed=2", "small-world:k=4,beta=0.1,seed=3"}) {
    EXPECT_EQ(to_string(parse_topology(text)), text);
  }
}

TEST(EdgeList, ReportsFileAndLine) {
  const ScratchFolder scratch;
  const std::string path = scratch.path() + "/bad.edges";
  std::ofstream(path) << "# comment\n0 1\n1 x\n";
  try {
    read_graph(path);
    FAIL() << "a bad line was accepted";
  } catch (const std::invalid_argument& e) {
    EXPECT_NE(std::string(e.what()).find(path + ":3: "), std::string::npos) << e.what();
  }
}

}  // namespace
}  // namespace gv
