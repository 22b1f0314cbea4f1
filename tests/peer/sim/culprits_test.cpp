#include "peer/record/report/culprits.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "peer/fleet/fleet.h"
#include "peer/runtime/assembly/assembly.h"
#include "tests/peer/sim/blamed.h"
#include "tests/peer/sim/injecting.h"

// Fleets with planted causes in virtual time. Their record is that of real fleets.

namespace gv {
namespace {

using std::chrono::milliseconds;
using Kind = Culprit::Kind;

Fleet fleet_with(const std::string& more) {
  return read_fleet_text(
      "version: 1\nseed: 5\ndata: { kind: quadratic, dimension: 20000 }\n"
      "model: quadratic\ntrain: { optimizer: { kind: sgd, lr: 0.01 } }\n"
      "stop: { rounds: 60 }\nsimulate: { flops: 0.05 GFLOP/s }\n" +
      more);
}

const std::string even = "network: { latency: 1 ms, bandwidth: 200 Mbit }\n";

/// Returns the culprits of a fleet.
Words blamed(const Fleet& file, SimulationOptions options = {}) {
  return simulate_and_blame(Assembly(file), std::move(options)).words;
}

/// A method on a graph in a fleet of six, and a bandwidth that slows the whole fleet.
struct Planted {
  const char* shape;
  const char* narrow;
};

class PlantedIn : public testing::TestWithParam<Planted> {
 protected:
  static std::string shape() { return std::string(GetParam().shape) + "\n" + even; }
  static std::string narrow(const char* between) {
    return fmt::format("links: [{{ between: {}, bandwidth: {} }}]\n", between, GetParam().narrow);
  }
};

TEST_P(PlantedIn, AFleetOfEqualsBlamesNobody) {
  EXPECT_EQ(blamed(fleet_with("peers: 6\n" + shape())), Words{});
}

TEST_P(PlantedIn, ASlowProcessorIsBlamed) {
  EXPECT_EQ(blamed(fleet_with("peers: [{ count: 3 }, { count: 1, speed: 0.1 }, { count: 2 }]\n" +
                              shape())),
            Words{"peer 3"});
}

/// A peer that waits for the link makes others wait, and was once blamed instead.
TEST_P(PlantedIn, ASlowLinkIsBlamedAndNotWhoWaitsForIt) {
  EXPECT_EQ(blamed(fleet_with("peers: 6\n" + shape() + narrow("[2, 3]"))), Words{"link 2 3"});
}

TEST_P(PlantedIn, ASlowNetworkOfOnePeerIsBlamed) {
  EXPECT_EQ(blamed(fleet_with("peers: 6\n" + shape() + narrow("[4, '*']"))), Words{"network 4"});
}

TEST_P(PlantedIn, APausedProcessIsBlamedAndNoLink) {
  const auto options = injecting({{.at = milliseconds(200),
                                   .kind = Injection::Kind::stop,
                                   .peer = 2,
                                   .length = milliseconds(4000)}},
                                 LinkTimes{});
  EXPECT_EQ(blamed(fleet_with("peers: 6\n" + shape()), options), Words{"peer 2"});
}

/// A slow processor at a slow link: its rounds take the sum of both times.
TEST_P(PlantedIn, TwoCausesAtOnceAreBothBlamed) {
  Words words =
      blamed(fleet_with("peers: [{ count: 2 }, { count: 1, speed: 0.03 }, { count: 3 }]\n" +
                        shape() + narrow("[2, 3]")));
  std::ranges::sort(words);
  EXPECT_EQ(words, (Words{"link 2 3", "peer 2"}));
}

/// Returns a peer's record of 100 s: waits for each neighbour, and gradients in the rest.
PeerTimes hundred_seconds(PeerId peer, std::vector<NeighborWait> waits) {
  PeerTimes all{.peer = peer, .waits = std::move(waits)};
  double waited = 0;
  for (const NeighborWait& wait : all.waits) {
    all.spent[static_cast<std::size_t>(Activity::late)] += wait.late;
    all.spent[static_cast<std::size_t>(Activity::wire)] += wait.wire;
    waited += wait.late + wait.wire;
  }
  all.spent[static_cast<std::size_t>(Activity::compute)] = 100 - waited;
  return all;
}

/// Four machines over TLS recorded this. One had 4 % of a processor and encrypted as slowly as it
/// computed, so its messages were long under way. Its network was once blamed.
TEST(Culprits, ASlowProcessorIsBlamedForWhatItSendsSlowly) {
  const std::vector<PeerTimes> ring{
      hundred_seconds(0, {{1, 35, 9}, {3, 35, 9}}),
      hundred_seconds(1, {{0, 0, 5}, {2, 30, 50}}),
      hundred_seconds(2, {{1, 0, 15}, {3, 0, 15}}),
      hundred_seconds(3, {{0, 0, 5}, {2, 30, 50}}),
  };
  const std::vector<Culprit> found = culprits(ring);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].kind, Kind::peer);
  EXPECT_EQ(found[0].peer, 2U);
}

/// A stop delays messages on all links, so extra time on one link belongs to that link. A slow link
/// to a peer with repeated stops was once not named.
TEST(Culprits, AStopDoesNotHideASlowLink) {
  std::vector<PeerTimes> ring{
      hundred_seconds(0, {{1, 65, 3}, {3, 12, 3}}),
      hundred_seconds(1, {{0, 0, 2}, {2, 12, 70}}),
      hundred_seconds(2, {{1, 0, 18}, {3, 0, 2}}),
      hundred_seconds(3, {{0, 0, 3}, {2, 62, 15}}),
  };
  ring[2].spent[static_cast<std::size_t>(Activity::compute)] = 20;
  ring[2].spent[static_cast<std::size_t>(Activity::other)] = 60;
  std::set<std::pair<Kind, PeerId>> found;
  for (const Culprit& culprit : culprits(ring)) found.emplace(culprit.kind, culprit.peer);
  EXPECT_EQ(found, (std::set<std::pair<Kind, PeerId>>{{Kind::link, 1}, {Kind::peer, 2}}));
}

Words words_of(const std::vector<PeerTimes>& times) {
  Words words;
  for (const Culprit& culprit : culprits(times)) words.push_back(word_of(culprit));
  return words;
}

/// Lets the peer stand still for `seconds` seconds.
PeerTimes standing(PeerTimes peer, double seconds) {
  peer.spent[static_cast<std::size_t>(Activity::compute)] -= seconds;
  peer.spent[static_cast<std::size_t>(Activity::other)] += seconds;
  return peer;
}

/// A message that a process was sending when it was stopped arrives only after it continues.
TEST(Culprits, WhoStandsStillIsBlamedForWhatItHadBegunToSend) {
  const std::vector<PeerTimes> ring{
      hundred_seconds(0, {{1, 0, 65}, {3, 0, 15}}),
      standing(hundred_seconds(1, {{0, 0, 8}, {2, 0, 8}}), 50),
      hundred_seconds(2, {{1, 0, 65}, {3, 0, 15}}),
      hundred_seconds(3, {{0, 50, 15}, {2, 0, 15}}),
  };
  const std::vector<Culprit> found = culprits(ring);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].kind, Kind::peer);
  EXPECT_EQ(found[0].peer, 1U);
  EXPECT_EQ(found[0].activity, Activity::other);
}

/// A data server is stopped again and again. A peer on the server's own machine reads its messages
/// at once, so the network of the server was once blamed.
TEST(Culprits, ASlowServerOfDataIsBlamedAndNotItsNetwork) {
  const std::vector<PeerTimes> served{
      hundred_seconds(0, {{1, 2, 2}, {2, 2, 2}, {3, 10, 60}}),
      hundred_seconds(1, {{0, 2, 2}, {2, 2, 2}, {3, 10, 60}}),
      hundred_seconds(2, {{0, 2, 2}, {1, 2, 2}, {3, 70, 0}}),
      standing(hundred_seconds(3, {{0, 5, 0}, {1, 5, 0}, {2, 5, 0}}), 80),
  };
  EXPECT_EQ(words_of(served), Words{"peer 3"});
}

/// Three pauses all hit messages to the same neighbour, so the link was once blamed too.
TEST(Culprits, APauseInTheMiddleOfAMessageIsNotTheLinks) {
  std::vector<PeerTimes> ring{
      hundred_seconds(0, {{1, 5, 5, 1}, {3, 58, 5, 18}}),
      standing(hundred_seconds(1, {{0, 5, 5, 1}, {2, 5, 5, 1}}), 55),
      hundred_seconds(2, {{1, 5, 60, 18}, {3, 5, 3, 1}}),
      hundred_seconds(3, {{0, 3, 5, 1}, {2, 60, 5, 18}}),
  };
  for (PeerTimes& peer : ring) peer.rounds = 400;
  EXPECT_EQ(words_of(ring), Words{"peer 1"});
}

/// A link that is always slow is named as well as the paused peer at its end, because it also slows
/// messages in the other direction.
TEST(Culprits, APauseDoesNotHideASlowLink) {
  std::vector<PeerTimes> ring{
      hundred_seconds(0, {{1, 30, 3, 10}, {3, 40, 3, 10}}),
      standing(hundred_seconds(1, {{0, 2, 2, 1}, {2, 3, 45, 1}}), 30),
      hundred_seconds(2, {{1, 3, 75, 10}, {3, 5, 3, 1}}),
      hundred_seconds(3, {{0, 3, 3, 1}, {2, 70, 3, 10}}),
  };
  for (PeerTimes& peer : ring) peer.rounds = 400;
  Words words = words_of(ring);
  std::ranges::sort(words);
  EXPECT_EQ(words, (Words{"link 1 2", "peer 1"}));
}

/// Four machines recorded this: a link that takes 80 ms, and a peer at its end that is stopped for
/// 95 of each 100 ms, which makes 113 ms. A common wait of both ends on that link does not explain
/// a late start of one. The stops were once not named.
TEST(Culprits, ASlowLinkDoesNotHideWhoIsStoppedAtItsEnd) {
  std::vector<PeerTimes> ring{
      hundred_seconds(0, {{1, 81, 9}, {3, 1, 0.5}}),
      hundred_seconds(1, {{0, 0, 0.1}, {2, 20.5, 72}}),
      standing(hundred_seconds(2, {{1, 1.6, 33}, {3, 0, 0}}), 56),
      hundred_seconds(3, {{0, 2, 4}, {2, 57.5, 27}}),
  };
  for (PeerTimes& peer : ring) peer.rounds = 880;
  Words words = words_of(ring);
  std::ranges::sort(words);
  EXPECT_EQ(words, (Words{"link 1 2", "peer 2"}));
}

/// With two links each is like the other, so no link of a path of three was ever named.
TEST(Culprits, OneOfTwoLinksIsNamed) {
  const std::vector<PeerTimes> path{
      hundred_seconds(0, {{1, 0, 86}}),
      hundred_seconds(1, {{0, 0, 86}, {2, 0, 0}}),
      hundred_seconds(2, {{1, 75, 12}}),
  };
  EXPECT_EQ(words_of(path), Words{"link 0 1"});
}

/// Three messages share one slow card. Their receivers wait unequally, and three links were once
/// named.
TEST(Culprits, ANetworkOfUnequalLinksIsNamedAsOne) {
  const std::vector<PeerTimes> complete{
      hundred_seconds(0, {{1, 2, 1}, {2, 2, 1}, {3, 2, 75}}),
      hundred_seconds(1, {{0, 2, 1}, {2, 2, 1}, {3, 45, 33}}),
      hundred_seconds(2, {{0, 2, 1}, {1, 2, 1}, {3, 45, 33}}),
      hundred_seconds(3, {{0, 1, 30}, {1, 1, 30}, {2, 1, 30}}),
  };
  EXPECT_EQ(words_of(complete), Words{"network 3"});
}

/// Slightly slower messages to and from one peer do not make a slow network.
TEST(Culprits, AmongEqualsNoNetworkIsBlamed) {
  std::vector<PeerTimes> complete;
  for (PeerId i = 0; i < 4; ++i) {
    std::vector<NeighborWait> waits;
    for (PeerId j = 0; j < 4; ++j)
      if (j != i) waits.push_back({j, 0, i == 0 || j == 0 ? 20.0 : 9.0});
    complete.push_back(hundred_seconds(i, std::move(waits)));
  }
  EXPECT_TRUE(culprits(complete).empty());
}

INSTANTIATE_TEST_SUITE_P(
    Fleets,
    PlantedIn,
    testing::Values(
        Planted{"topology: ring", "5 Mbit"},
        Planted{"algorithm: { kind: d-psgd, order: atc }\ntopology: ring", "5 Mbit"},
        Planted{"algorithm: { kind: choco-sgd, codec: int8 }\ntopology: ring", "1 Mbit"},
        Planted{"algorithm: gradient-tracking\ntopology: { kind: ring }", "5 Mbit"},
        Planted{"algorithm: { kind: d-psgd, codec: fp16 }\ntopology: complete", "500 kbit"},
        Planted{"algorithm: slowmo\ntopology: path", "5 Mbit"}));

}  // namespace
}  // namespace gv
