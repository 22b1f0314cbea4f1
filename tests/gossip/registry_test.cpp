#include <algorithm>
#include <set>

#include <gtest/gtest.h>

#include "gossip/algorithm.h"
#include "gossip/supply.h"

namespace gv {
namespace {

TEST(Registry, FindsAlgorithmsByKindAndOrder) {
  EXPECT_EQ(find_algorithm("d-psgd", "")->order, "lian");
  EXPECT_EQ(find_algorithm("d-psgd", "cta")->order, "cta");
  EXPECT_NE(find_algorithm("d-psgd", "cta")->run, find_algorithm("d-psgd", "atc")->run);
  EXPECT_EQ(find_algorithm("all-reduce", "")->order, "ring");
  EXPECT_EQ(find_algorithm("d-psgd", "sideways"), nullptr);
  EXPECT_EQ(find_algorithm("gossip", ""), nullptr);
}

TEST(Registry, ItsRowsAreWhole) {
  std::set<std::pair<std::string_view, std::string_view>> seen;
  std::vector<std::string_view> kinds;
  for (const AlgorithmRow* row : algorithms()) {
    SCOPED_TRACE(row->kind);
    EXPECT_TRUE(seen.insert({row->kind, row->order}).second) << "twice";
    if (kinds.empty() || kinds.back() != row->kind) kinds.push_back(row->kind);
    EXPECT_NE(row->run, nullptr);
    EXPECT_NE(row->summary, "");
    if (!row->mixes && row->links == nullptr) {
      EXPECT_EQ(row->promise, Promise::nothing);
    }
    EXPECT_TRUE(row->links == nullptr || row->channels != nullptr);
    EXPECT_EQ(row->serve == nullptr, row->servers == nullptr);
    for (const Option& option : row->options) {
      EXPECT_GE(option.usual, option.least) << option.name;
      EXPECT_LE(option.usual, option.most) << option.name;
      EXPECT_NE(option.help, "") << option.name;
      EXPECT_NE(option.name, "kind");
      EXPECT_NE(option.name, "order");
    }
  }
  EXPECT_EQ(std::set(kinds.begin(), kinds.end()).size(), kinds.size()) << "kinds stand together";
}

/// Both ends have each link, and the links connect all peers.
TEST(Registry, LinksAreMutualAndReachEverybody) {
  for (const AlgorithmRow* row : algorithms()) {
    if (row->links == nullptr) continue;
    for (const PeerId n : {1U, 2U, 3U, 4U, 8U, 9U, 16U}) {
      gv::Setup setup{.peers = n};
      for (const Option& option : row->options)
        setup.settings[std::string(option.name)] = option.usual;
      setup.servers = row->servers == nullptr ? 0 : row->servers(setup.settings);
      const PeerId all = n + setup.servers;
      for (PeerId i = 0; i < all; ++i) setup.hosts.push_back(i * 7 % 3);
      if (row->objection != nullptr && !row->objection(setup, nullptr).empty()) continue;
      SCOPED_TRACE(testing::Message() << row->kind << " " << row->order << " of " << n);
      std::set<PeerId> reached{0};
      for (PeerId hop = 0; hop < all; ++hop) {
        for (PeerId i = 0; i < all; ++i) {
          const std::vector<PeerId> links = row->links(setup, i);
          EXPECT_TRUE(std::ranges::is_sorted(links));
          EXPECT_EQ(std::set(links.begin(), links.end()).size(), links.size());
          for (const PeerId j : links) {
            EXPECT_NE(j, i);
            ASSERT_LT(j, all);
            EXPECT_EQ(std::ranges::count(row->links(setup, j), i), 1);
            if (reached.contains(i)) reached.insert(j);
          }
        }
      }
      EXPECT_EQ(reached.size(), all);
    }
  }
}

std::vector<Channel> channels_of(const AlgorithmRow& row, const Setup& setup) {
  std::vector<Channel> all;
  if (row.channels != nullptr) all = row.channels(setup, 50);
  if (setup.data_servers == 0) return all;
  for (const Channel& channel : supply_channels(setup)) all.push_back(channel);
  return all;
}

/// Found by trying: a plug-in method used kind 20, as the page for authors said, and received the
/// messages of peers that ask for samples too.
TEST(Registry, ChannelsOfOneFleetHaveKindsOfTheirOwn) {
  for (const AlgorithmRow* row : algorithms()) {
    for (const PeerId data_servers : {0U, 2U}) {
      gv::Setup setup{.peers = 4, .data_servers = data_servers};
      for (const Option& option : row->options)
        setup.settings[std::string(option.name)] = option.usual;
      setup.servers = row->servers == nullptr ? 0 : row->servers(setup.settings);
      setup.hosts.assign(4 + setup.servers + data_servers, 0);
      if (row->objection != nullptr && !row->objection(setup, nullptr).empty()) continue;
      EXPECT_EQ(objection_to(channels_of(*row, setup)), "") << row->kind << " " << row->order;
    }
  }
  const gv::Setup supplied{.peers = 4, .data_servers = 1};
  std::vector<Channel> channels = supply_channels(supplied);
  channels.push_back({.kind = Kind{24}, .fits = channels[0].fits});
  EXPECT_EQ(objection_to(channels), "");
  channels.push_back({.kind = Kind{20}, .fits = channels[0].fits});
  EXPECT_NE(objection_to(channels).find("two channels of this fleet have messages of kind 20"),
            std::string::npos)
      << objection_to(channels);
  EXPECT_NE(objection_to({{.kind = Kind{32}, .fits = nullptr}}).find("from 16 to 31"),
            std::string::npos);
  EXPECT_NE(objection_to({{.kind = Kind::contribution, .fits = nullptr}}), "");
}

}  // namespace
}  // namespace gv
