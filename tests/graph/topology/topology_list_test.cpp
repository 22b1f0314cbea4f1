#include "graph/topology/topology_list.h"

#include <gtest/gtest.h>

namespace gv {
namespace {

using List = std::vector<std::string>;

TEST(TopologyList, CommasSeparateTopologiesAndParameters) {
  EXPECT_EQ(split_topologies("ring"), (List{"ring"}));
  EXPECT_EQ(split_topologies("ring,torus:4x4,exponential"),
            (List{"ring", "torus:4x4", "exponential"}));
  EXPECT_EQ(split_topologies("random-regular:degree=3,seed=1,ring,small-world:k=4,beta=0.1,seed=2"),
            (List{"random-regular:degree=3,seed=1", "ring", "small-world:k=4,beta=0.1,seed=2"}));
}

TEST(TopologyList, KeepsPathsAndShowsMisspeltNames) {
  EXPECT_EQ(split_topologies("file:a,b.edges,ring"), (List{"file:a,b.edges", "ring"}));
  EXPECT_EQ(split_topologies("ring,trous:4x4"), (List{"ring", "trous:4x4"}));
  EXPECT_EQ(split_topologies("ring,"), (List{"ring", ""}));
}

}  // namespace
}  // namespace gv
