#include <gtest/gtest.h>

#include "tests/peer/fleet/fleet_file.h"

namespace gv {
namespace {

TEST(Fleet, TheDigestFollowsTheArithmetic) {
  EXPECT_NE(read(quadratic + "topology: random-matching\n").digest,
            read(quadratic + "topology: random-matching:seed=2\n").digest);
  EXPECT_EQ(read(quadratic).digest, read(quadratic + "output: { dir: elsewhere }\n").digest);
  EXPECT_EQ(read(quadratic).digest, read(quadratic + "network: { emulate: true }\n").digest);
  EXPECT_NE(read(quadratic).digest, read(quadratic + "seed: 2\n").digest);
}

/// Of files what is in them counts, not where they lie: two machines may keep them elsewhere.
TEST(Fleet, TheDigestKnowsGraphAndWeightFiles) {
  const auto graph = [](const char* name, const char* edges) {
    write_file(name, edges);
    return read(quadratic + "topology: file:" + name + "\n").digest;
  };
  const std::string square = graph("a.edges", "0 1\n1 2\n2 3\n3 0\n");
  EXPECT_EQ(graph("b.edges", "3 0\n2 3\n1 2\n0 1\n"), square);
  EXPECT_NE(graph("b.edges", "0 1\n1 2\n2 3\n3 1\n"), square);
  const auto weights = [](const char* name, const char* rows) {
    write_file(name, rows);
    return read(quadratic + "topology: { kind: ring, weights: \"file:" + name + "\" }\n").digest;
  };
  const char* half = ".5 .25 0 .25\n.25 .5 .25 0\n0 .25 .5 .25\n.25 0 .25 .5\n";
  const std::string even = weights("w1.txt", half);
  EXPECT_EQ(weights("w2.txt", half), even);
  EXPECT_NE(weights("w2.txt", ".4 .3 0 .3\n.3 .4 .3 0\n0 .3 .4 .3\n.3 0 .3 .4\n"), even);
  const auto matcha = [](const char* name, const char* edges) {
    write_file(name, edges);
    return read(quadratic + "topology: { kind: matcha, graph: \"file:" + name + "\" }\n").digest;
  };
  const std::string matchings = matcha("c.edges", "0 1\n1 2\n2 3\n3 0\n");
  EXPECT_EQ(matcha("d.edges", "0 1\n1 2\n2 3\n3 0\n"), matchings);
  EXPECT_NE(matcha("d.edges", "0 1\n1 2\n2 3\n"), matchings);
}

}  // namespace
}  // namespace gv
