#include <gtest/gtest.h>

#include "graph/schedules.h"
#include "tests/peer/fleet/fleet_file.h"

namespace gv {
namespace {

TEST(Fleet, ReadsTheParametersOfTopologies) {
  const std::pair<const char*, const char*> rows[] = {
      {"kind: king-torus, shape: [3, 4]", "king-torus:3x4"},
      {"kind: ring-lattice, k: 6", "ring-lattice:k=6"},
      {"kind: d-equi-static, m: 5, seed: 2", "d-equi-static:m=5,seed=2"},
      {"kind: u-equi-static, weights: edge-list", "u-equi-static:m=0,seed=1"},
      {"kind: binary-tree, weights: fmmc", "binary-tree"}};
  for (const auto& [text, word] : rows) {
    const Fleet fleet = read(quadratic + "topology: { " + text + " }\n", {"peers=12"});
    EXPECT_EQ(to_string(fleet.topology), word);
  }
}

/// The words of `graph report`, in the file and on the command line.
TEST(Fleet, ReadsATopologyInOneWord) {
  const auto topology = [](const std::string& text, const std::vector<std::string>& sets) {
    std::vector<std::string> all{"peers=12"};
    all.insert(all.end(), sets.begin(), sets.end());
    return to_string(read(quadratic + text, all).topology);
  };
  EXPECT_EQ(topology("topology: torus:3x4\n", {}), "torus:3x4");
  EXPECT_EQ(topology("topology: random-regular:degree=3,seed=4\n", {}),
            "random-regular:degree=3,seed=4");
  EXPECT_EQ(topology("topology: { kind: torus, shape: [4, 3] }\n", {"topology=torus:3x4"}),
            "torus:3x4");
  EXPECT_EQ(topology("", {"topology=erdos-renyi:p=0.9,seed=2"}), "erdos-renyi:p=0.9,seed=2");
  const Fleet kept = read(quadratic + "topology: { kind: ring, weights: lazy }\n",
                          {"peers=12", "topology.kind=ring-lattice:k=4"});
  EXPECT_EQ(to_string(kept.topology), "ring-lattice:k=4");
  EXPECT_EQ(kept.weights, "lazy");
  EXPECT_EQ(read(quadratic, {"peers=12", "topology=torus:3x4"}).digest,
            read(quadratic + "topology: { kind: torus, shape: [3, 4] }\n", {"peers=12"}).digest);
}

TEST(Fleet, AFileInOneWordLiesBesideTheFleet) {
  const std::string edges = write_file("square.edges", "0 1\n1 2\n2 3\n3 0\n");
  EXPECT_EQ(read(quadratic + "topology: file:square.edges\n").topology.file(), edges);
}

TEST(Fleet, ReadsSchedulesInBothForms) {
  const std::vector<std::pair<std::string, std::string>> forms{
      {"{ kind: one-peer-exponential }", "one-peer-exponential"},
      {"{ kind: random-matching, seed: 3 }", "random-matching:seed=3"},
      {"{ kind: base, k: 2 }", "base:k=2"},
      {"{ kind: od-equi-dyn, eta: 0.7, m: 4, seed: 2 }", "od-equi-dyn:eta=0.7,m=4,seed=2"},
      {"{ kind: ou-equi-dyn, m: 5 }", "ou-equi-dyn:m=5"},
      {"{ kind: matcha, budget: 40 %, graph: \"torus:3x4\" }",
       "matcha:budget=0.4,graph=torus:3x4"}};
  for (const auto& [map, word] : forms) {
    SCOPED_TRACE(word);
    const Fleet a = read(quadratic + "topology: " + map + "\n", {"peers=12"});
    const Fleet b = read(quadratic + "topology: " + word + "\n", {"peers=12"});
    ASSERT_TRUE(a.schedule && b.schedule);
    EXPECT_EQ(to_string(*a.schedule), to_string(parse_schedule(word)));
    EXPECT_EQ(to_string(*a.schedule), to_string(*b.schedule));
    EXPECT_EQ(a.digest, b.digest);
    EXPECT_NE(a.digest, read(quadratic, {"peers=12"}).digest);
  }
  EXPECT_FALSE(read(quadratic).schedule);
}

}  // namespace
}  // namespace gv
