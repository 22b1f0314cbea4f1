#include <fstream>

#include <gtest/gtest.h>

#include "graph/schedules.h"
#include "tests/peer/fleet/first_problem.h"
#include "tests/peer/fleet/fleet_file.h"
#include "tests/scratch_folder.h"

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

/// Topologies are written as for `graph report`, in the file and on the command line.
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

/// A file gives W of a path of four. Without the weight of the middle edge these are two fleets of
/// two, each with its own model. Such a run once finished as if it were one fleet.
TEST(Fleet, RefusesWeightsThatAreNoMixingMatrixOfAWholeFleet) {
  const ScratchFolder folder;
  const std::string file = folder.path() + "/fleet.yaml";
  std::ofstream(file) << "version: 1\npeers: 4\ndata: quadratic\nstop: { rounds: 1 }\n"
                         "topology: { kind: path, weights: \"file:w.txt\" }\n";
  const auto said_of = [&](const char* rows) {
    std::ofstream(folder.path() + "/w.txt") << rows;
    return first_problem([&] { read_fleet(file, {}, nullptr); });
  };
  EXPECT_EQ(said_of(".5 .5 0 0\n.5 .25 .25 0\n0 .25 .25 .5\n0 0 .5 .5\n"), "");
  struct Row {
    const char* rows;
    const char* words;
  };
  for (const Row& row :
       {Row{".5 .5 0 0\n.5 .5 0 0\n0 0 .5 .5\n0 0 .5 .5\n",
            "without its edges of weight 0, topology path is not connected"},
        Row{".5 .5 0 0\n.5 .4 .1 0\n0 .1 .5 .4\n0 0 .4 .5\n", "row 3 sums to 0.9"},
        Row{".5 .5 0 0\n.25 .5 .25 0\n.25 0 .5 .25\n0 0 .25 .75\n", "does not connect"}}) {
    const std::string said = said_of(row.rows);
    EXPECT_TRUE(said.starts_with(file + ":5:11 ")) << said;
    EXPECT_NE(said.find(row.words), std::string::npos) << row.words << "\n" << said;
  }
}

/// A schedule of the user's own. Its path is relative to the fleet file, the digest holds its
/// contents, and errors are reported with their place.
TEST(Fleet, ReadsASchedulesMatricesFromAFile) {
  const ScratchFolder here;
  const ScratchFolder there;
  const char* good = ".5 .5 0\n.5 .5 0\n0 0 1\n1 0 0\n0 .5 .5\n0 .5 .5\n";
  const auto fleet_of = [](const ScratchFolder& folder, const std::string& rows,
                           const std::string& topology, const std::vector<std::string>& sets) {
    const std::string file = folder.path() + "/fleet.yaml";
    std::ofstream(file) << "version: 1\npeers: 3\ndata: quadratic\nstop: { rounds: 1 }\n"
                        << "topology: " << topology << "\n";
    std::ofstream(folder.path() + "/w.txt") << rows;
    return read_fleet(file, sets, nullptr);
  };
  const std::string map = "{ kind: matrices, file: w.txt }";
  const Fleet fleet = fleet_of(here, good, map, {"name=a"});
  ASSERT_TRUE(fleet.schedule);
  EXPECT_EQ(to_string(*fleet.schedule), "matrices:" + here.path() + "/w.txt");
  EXPECT_EQ(fleet_of(there, good, "matrices:w.txt", {"name=a"}).digest, fleet.digest);
  const std::string other = ".6 .4 0\n.4 .6 0\n0 0 1\n1 0 0\n0 .5 .5\n0 .5 .5\n";
  EXPECT_NE(fleet_of(there, other, map, {"name=a"}).digest, fleet.digest);

  const auto said = [&](const std::string& rows, const std::string& topology,
                        const std::vector<std::string>& sets) {
    return first_problem([&] { fleet_of(here, rows, topology, sets); });
  };
  EXPECT_NE(said(".5 .5 0\n.5 .5 0\n0 0 1\n", map, {}).find("is not connected"), std::string::npos);
  EXPECT_NE(said(".5 .5 0\n.5 .4 0\n0 0 1\n", map, {}).find("w.txt: W_0: mixing matrix: row 1"),
            std::string::npos);
  EXPECT_NE(said(good, "{ kind: matrices, file: none.npy }", {}).find("none.npy"),
            std::string::npos);
  EXPECT_NE(said(good, "matrices", {}).find("file"), std::string::npos);
  EXPECT_NE(
      said(good, "{ kind: matrices, file: w.txt, weights: lazy }", {}).find("has its own weights"),
      std::string::npos);
  EXPECT_NE(said(good, map, {"peers=4"}).find("w.txt:1: 3 numbers in row 0"), std::string::npos);
  EXPECT_NE(said(good, map, {"algorithm=d2"}), "");
  EXPECT_EQ(said(good, map, {"algorithm=sgp"}), "") << "halves are the shares of push-sum";
  EXPECT_NE(said(other, map, {"algorithm=sgp"}).find("W_0 of this file does not"),
            std::string::npos);
}

}  // namespace
}  // namespace gv
