#include <algorithm>
#include <set>
#include <stdexcept>

#include <gtest/gtest.h>

#include "graph/schedule/sequences.h"
#include "graph/topologies.h"

namespace gv {
namespace {

TEST(Matching, DecomposesEveryFamilyIntoAtMostOneMoreThanTheDegree) {
  for (const char* family : {"ring", "path", "star", "complete", "grid", "torus",
                             "symmetric-exponential", "random-regular:degree=4,seed=3",
                             "erdos-renyi:p=0.4,seed=5", "small-world:k=4,beta=0.5,seed=1"}) {
    for (const PeerId n : {5U, 6U, 9U, 16U, 33U}) {
      const Topology t = build(parse_topology(family), n);
      SCOPED_TRACE(t.name + " on " + std::to_string(n));
      const std::vector<Matching> matchings = matching_decomposition(t);
      std::size_t most = 0;
      for (const auto& list : t.neighbors) most = std::max(most, list.size());
      EXPECT_LE(matchings.size(), most + 1);
      std::vector<Edge> edges;
      for (const Matching& m : matchings) {
        std::set<PeerId> busy;
        for (const auto& [u, v] : m) {
          EXPECT_TRUE(busy.insert(u).second);
          EXPECT_TRUE(busy.insert(v).second);
          edges.emplace_back(u, v);
        }
      }
      std::ranges::sort(edges);
      EXPECT_EQ(edges, t.edges());
    }
  }
}

TEST(Matching, OfALargeGraph) {
  const Topology t = build(parse_topology("random-regular:degree=6,seed=1"), 2000);
  EXPECT_LE(matching_decomposition(t).size(), 7U);
}

TEST(Matching, NeedsAnUndirectedGraph) {
  EXPECT_THROW(matching_decomposition(build(parse_topology("exponential"), 8)),
               std::invalid_argument);
}

}  // namespace
}  // namespace gv
