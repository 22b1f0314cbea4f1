#include "peer/record/watch/hold_ups.h"

#include <gtest/gtest.h>

namespace gv {
namespace {

/// Four peers on a ring, 100 rounds in 100 s. Each peer has seconds of compute and seconds of
/// waiting for each neighbour, (i - 1) and (i + 1).
FleetState ring(const std::vector<double>& compute,
                const std::vector<std::pair<double, double>>& late) {
  FleetState state{.phase = FleetState::Phase::training, .seconds = 100, .round = 100};
  for (PeerId i = 0; i < 4; ++i) {
    ActivitySeconds spent{};
    spent[static_cast<std::size_t>(Activity::compute)] = compute[i];
    spent[static_cast<std::size_t>(Activity::late)] = late[i].first + late[i].second;
    spent[static_cast<std::size_t>(Activity::other)] =
        100 - compute[i] - late[i].first - late[i].second;
    state.peers.push_back({.id = i, .round = 100});
    state.peers[i].activities = spent;
    state.peers[i].sent_bytes = 200'000'000;
    state.peers[i].reported = 100;
    state.peers[i].waits = {{.peer = (i + 3) % 4, .late = late[i].first},
                            {.peer = (i + 1) % 4, .late = late[i].second}};
  }
  return state;
}

Fleet fleet() {
  Fleet fleet;
  fleet.peers.resize(4);
  return fleet;
}

/// Peer 2 is slow. Peers 1 and 3 pass their waiting on, and peer 0 waits for these two.
TEST(HoldUps, SayWhoIsSlowAndWhatHelps) {
  const FleetState state = ring({20, 20, 80, 20}, {{30, 30}, {0, 60}, {0, 0}, {60, 0}});
  const auto said = hold_ups(fleet(), state);
  ASSERT_EQ(said.size(), 1U);
  EXPECT_EQ(said[0].who, "peer 2");
  EXPECT_EQ(said[0].text,
            "peer 2 holds the others up: 45 % of all peers' time is waiting for it, and its\n"
            "       gradients take 4.0 times as long\n"
            "help:  `grapevine bench speeds FILE` measures each peer's speed, and\n"
            "       `train.batch: auto` gives each peer work in proportion");
}

/// A peer that already has less work than others is not advised to take less.
TEST(HoldUps, AdviseNothingThatTheFleetDoesAlready) {
  Fleet shared = fleet();
  shared.peers[2].batch = 8;
  const auto said = hold_ups(shared, ring({20, 20, 80, 20}, {{30, 30}, {0, 60}, {0, 0}, {60, 0}}));
  ASSERT_EQ(said.size(), 1U);
  EXPECT_EQ(said[0].text.find("help:"), std::string::npos) << said[0].text;
}

/// A slow network may first be seen on one of its links. Each cause is reported once, if it lasts.
TEST(HoldUps, AreToldOnceAndOnlyWhereTheyLast) {
  auto look = [told = LastingHoldUps{}](const std::vector<std::string>& found) mutable {
    std::vector<HoldUp> said;
    for (const std::string& who : found) said.push_back({.who = who, .text = who});
    std::vector<std::string> names;
    for (const HoldUp& one : told.after(std::move(said))) names.push_back(one.who);
    return names;
  };
  using Names = std::vector<std::string>;
  EXPECT_EQ(look({"a link"}), Names{});
  EXPECT_EQ(look({"its network"}), Names{});
  EXPECT_EQ(look({"its network", "peer 2"}), Names{"its network"});
  EXPECT_EQ(look({}), Names{});
  EXPECT_EQ(look({"peer 2", "its network"}), Names{});
  EXPECT_EQ(look({"peer 2", "its network"}), Names{"peer 2"});
  EXPECT_EQ(look({"peer 2", "its network"}), Names{});
}

TEST(HoldUps, AreSilentWherePeersDoNotRecord) {
  FleetState state = ring({20, 20, 80, 20}, {{30, 30}, {0, 60}, {0, 0}, {60, 0}});
  for (PeerState& peer : state.peers) peer.activities.reset();
  EXPECT_TRUE(hold_ups(fleet(), state).empty());
}

/// 1 MB to each neighbour and round takes 0.1 s at 10 MB/s, and 0.2 s if a card has 10 MB/s in all.
TEST(HoldUps, NameALinkThatIsSlowerThanTheFileSays) {
  FleetState state = ring({20, 20, 20, 20}, {{0, 0}, {0, 0}, {0, 0}, {0, 0}});
  state.peers[1].waits[0].wire = 30;  // for messages of peer 0
  NetworkSpec links{.bandwidth = 10e6, .shape = NetworkShape::per_link};
  const auto slow = slow_link(links, state);
  ASSERT_TRUE(slow);
  EXPECT_EQ(slow->from, 0U);
  EXPECT_EQ(slow->to, 1U);
  EXPECT_DOUBLE_EQ(slow->seconds, 0.3);
  EXPECT_DOUBLE_EQ(slow->promised, 0.1);
  links.shape = NetworkShape::per_nic;
  EXPECT_FALSE(slow_link(links, state)) << "0.3 s are less than twice 0.2 s";
  EXPECT_FALSE(slow_link(NetworkSpec{}, state)) << "the file says nothing of the network";
}

/// Peer 2 lacks processor time, so its messages also come late. It was once named without help, and
/// the next message blamed its link.
TEST(HoldUps, SayOneCauseWithOneHelp) {
  FleetState state = ring({20, 20, 20, 20}, {{30, 30}, {0, 60}, {0, 0}, {60, 0}});
  state.peers[1].waits[1].wire = 30;  // for messages of peer 2
  Fleet file = fleet();
  file.network = {.bandwidth = 10e6, .shape = NetworkShape::per_link};
  ASSERT_TRUE(slow_link(file.network, state));
  const auto said = hold_ups(file, state);
  ASSERT_EQ(said.size(), 1U);
  EXPECT_EQ(said[0].who, "peer 2");
  EXPECT_NE(said[0].text.find("stands still"), std::string::npos) << said[0].text;
  EXPECT_NE(said[0].text.find("\nhelp:"), std::string::npos) << said[0].text;
  LastingHoldUps lasting;
  lasting.after(said);
  EXPECT_EQ(lasting.after(said).size(), 1U);
  const std::vector<HoldUp> link{{.who = "2 -> 1", .text = "", .ends = {"peer 2", "peer 1"}}};
  lasting.after(link);
  EXPECT_TRUE(lasting.after(link).empty()) << "its link is slow because the peer is";
}

/// A run that resumed in round 50 has done 50 rounds by round 100.
TEST(HoldUps, CountTheRoundsSinceTheRunWentOn) {
  FleetState state = ring({20, 20, 20, 20}, {{0, 0}, {0, 0}, {0, 0}, {0, 0}});
  state.first = 50;
  state.peers[1].waits[0].wire = 30;
  const NetworkSpec links{.bandwidth = 10e6, .shape = NetworkShape::per_link};
  const auto slow = slow_link(links, state);
  ASSERT_TRUE(slow);
  EXPECT_DOUBLE_EQ(slow->seconds, 0.6);
  EXPECT_DOUBLE_EQ(slow->promised, 0.2);
}

}  // namespace
}  // namespace gv
