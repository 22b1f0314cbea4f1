#include <algorithm>
#include <fstream>
#include <stdexcept>

#include <gtest/gtest.h>

#include "graph/formats/graph_file.h"
#include "peer/study/predict/forecast/proposal.h"
#include "peer/study/predict/forecast/round_prediction.h"
#include "tests/scratch_folder.h"

namespace gv {
namespace {

class Placed : public testing::Test {
 protected:
  Assembly fleet(const std::string& keys, const std::string& peers = "peers: 6\n") const {
    const std::string path = folder_.path() + "/lan.yaml";
    std::ofstream(path) << "version: 1\n"
                        << peers
                        << "stop: { rounds: 5 }\nmodel: quadratic\n"
                           "data: { kind: quadratic, dimension: 100000 }\n"
                        << keys;
    return Assembly(read_fleet(path, {}, nullptr));
  }
  ScratchFolder folder_;
};

/// One of a ring's six links, in the file's order, is slow. Other orders avoid that link.
TEST_F(Placed, ARingGoesRoundASlowLink) {
  const Assembly six = fleet(
      "topology: ring\nlinks: [{ between: [2, 3], bandwidth: 1 Mbit }]\n"
      "network: { latency: 1 ms, bandwidth: 1 Gbit }\n");
  const Placement best = best_placement(six);
  EXPECT_GT(best.seconds_as_numbered, 3) << "0.4 MB at 1 Mbit/s";
  EXPECT_LT(best.seconds, 0.1);
  EXPECT_FALSE(std::ranges::count(best.graph.neighbors[2], 3U));
  EXPECT_TRUE(is_connected(best.graph));
  for (const auto& heard : best.graph.neighbors) EXPECT_EQ(heard.size(), 2U);
  std::vector<PeerId> sorted = best.peers;
  std::ranges::sort(sorted);
  EXPECT_EQ(sorted, (std::vector<PeerId>{0, 1, 2, 3, 4, 5}));
  EXPECT_NEAR(predict_round(six).seconds_per_round, best.seconds_as_numbered, 1e-9);
  std::ofstream(folder_.path() + "/lan.edges") << write_graph(best.graph, "edges");
  const Assembly placed = fleet(
      "topology: \"file:lan.edges\"\nlinks: [{ between: [2, 3], bandwidth: 1 Mbit }]\n"
      "network: { latency: 1 ms, bandwidth: 1 Gbit }\n");
  EXPECT_NEAR(predict_round(placed).seconds_per_round, best.seconds, 1e-9);
}

/// A peer with a slow card sends one model as a leaf, but five models in the centre.
TEST_F(Placed, WhoHasASlowCardIsALeafOfTheStar) {
  std::ofstream(folder_.path() + "/lan.links.yaml")
      << "version: 1\nlinks: []\ncards: { pi: 1 Mbit }\n";
  const Assembly six = fleet("topology: star\nlinks: { file: lan.links.yaml }\n",
                             "hosts: { pi: {}, anna: {} }\n"
                             "peers: [{ host: pi }, { host: anna, count: 5 }]\n");
  const Placement best = best_placement(six);
  EXPECT_NEAR(best.seconds_as_numbered / best.seconds, 5, 0.1);
  EXPECT_EQ(best.graph.neighbors[0].size(), 1U);
}

TEST_F(Placed, WithoutADifferenceTheOrderOfTheFileStays) {
  const Placement best = best_placement(fleet("topology: ring\n"));
  EXPECT_EQ(best.seconds, best.seconds_as_numbered);
  EXPECT_EQ(best.peers, (std::vector<PeerId>{0, 1, 2, 3, 4, 5}));
}

/// One link has 30 ms and the others 29 ms. Avoiding that link gains less than predictions resolve.
TEST_F(Placed, ForALittleNobodyMoves) {
  const Placement best =
      best_placement(fleet("topology: ring\nlinks: [{ between: [2, 3], latency: 30 ms }]\n"
                           "network: { latency: 29 ms }\n"));
  EXPECT_EQ(best.seconds, best.seconds_as_numbered);
  EXPECT_EQ(best.peers, (std::vector<PeerId>{0, 1, 2, 3, 4, 5}));
}

TEST_F(Placed, IsRefusedWhereThereAreNoPlaces) {
  EXPECT_THROW(best_placement(fleet("algorithm: all-reduce\n")), std::invalid_argument);
  EXPECT_THROW(best_placement(fleet("topology: one-peer-exponential\n")), std::invalid_argument);
}

}  // namespace
}  // namespace gv
