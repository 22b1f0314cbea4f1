#include <random>

#include <gtest/gtest.h>

#include "graph/topology/topology.h"

namespace gv {
namespace {

/// Chain, stage and copy of each peer, counted one peer after the other.
struct Stands {
  PeerId chain, stage, copy;
};

std::vector<Stands> count_through(PeerId chains, const std::vector<PeerId>& peers_of_stages) {
  std::vector<Stands> all;
  for (PeerId c = 0; c < chains; ++c)
    for (PeerId s = 0; s < peers_of_stages.size(); ++s)
      for (PeerId k = 0; k < peers_of_stages[s]; ++k) all.push_back({c, s, k});
  return all;
}

void expect_as_counted(const ChainMap& map, PeerId chains, const std::vector<PeerId>& stages) {
  const std::vector<Stands> all = count_through(chains, stages);
  EXPECT_EQ(map.stages(), stages.size());
  EXPECT_EQ(map.peers() * chains, all.size());
  for (PeerId i = 0; i < all.size(); ++i) {
    EXPECT_EQ(map.chain(i), all[i].chain);
    EXPECT_EQ(map.stage(i), all[i].stage);
    EXPECT_EQ(map.copy(i), all[i].copy);
    EXPECT_EQ(map.peers_of(all[i].stage), stages[all[i].stage]);
    EXPECT_EQ(all[map.first(i)].stage + all[map.first(i)].copy, 0U);
    EXPECT_EQ(all[map.first(i)].chain, all[i].chain);
    for (PeerId c = 0; c < chains; ++c) {
      const Stands& other = all[map.counterpart(i, c)];
      EXPECT_EQ(other.chain, c);
      EXPECT_EQ(other.stage, all[i].stage);
      EXPECT_EQ(other.copy, all[i].copy);
    }
    for (PeerId s = 0; s < stages.size(); ++s) {
      std::vector<PeerId> expected;
      for (PeerId j = 0; j < all.size(); ++j)
        if (all[j].chain == all[i].chain && all[j].stage == s) expected.push_back(j);
      EXPECT_EQ(map.stage_peers(i, s), expected);
    }
  }
}

TEST(ChainMap, IsTheOrderInWhichPeersAreCounted) {
  std::mt19937_64 rng(41);
  for (int draw = 0; draw < 100; ++draw) {
    const auto chains = static_cast<PeerId>(1 + rng() % 4);
    std::vector<PeerId> stages(1 + rng() % 5);
    expect_as_counted(ChainMap(static_cast<PeerId>(stages.size())), chains,
                      std::vector<PeerId>(stages.size(), 1));
    for (PeerId& peers : stages) peers = static_cast<PeerId>(1 + rng() % 4);
    expect_as_counted(ChainMap(stages), chains, stages);
  }
}

/// A fleet without chains: each peer has a model of its own.
TEST(ChainMap, OfWholeModelsIsTheIds) {
  const ChainMap map;
  for (PeerId i = 0; i < 5; ++i) {
    EXPECT_EQ(map.chain(i), i);
    EXPECT_EQ(map.stage(i), 0U);
    EXPECT_EQ(map.counterpart(3, i), i);
  }
}

}  // namespace
}  // namespace gv
