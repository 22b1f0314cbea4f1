#include "peer/report/culprits.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <set>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "peer/fleet/fleet.h"
#include "peer/runtime/assembly.h"
#include "tests/peer/sim/injecting.h"

// Fleets with planted causes, in virtual time, whose record is the one that real fleets keep.

namespace gv {
namespace {

using std::chrono::milliseconds;
using Kind = Culprit::Kind;

Fleet fleet_of(const std::string& more) {
  return read_fleet_text(
      "version: 1\nseed: 5\ndata: { kind: quadratic, dimension: 20000 }\n"
      "model: quadratic\ntrain: { optimizer: { kind: sgd, lr: 0.01 } }\n"
      "stop: { rounds: 60 }\nsimulate: { flops: 0.05 GFLOP/s }\n" +
      more);
}

const std::string even = "network: { latency: 1 ms, bandwidth: 200 Mbit }\n";

/// What is said of a fleet, as short words: "peer 3", "link 2 3", "network 4".
std::vector<std::string> blamed(const Fleet& file, SimulationOptions options = {}) {
  const Assembly fleet(file);
  std::map<PeerId, PeerTimes> times;
  std::mutex lock;
  options.on_life = [&](const Recorder& recorder, std::uint64_t) {
    double rounds = 0;
    for (const RoundRow& row : recorder.rounds().rows()) rounds += static_cast<double>(row.rounds);
    const std::lock_guard hold(lock);
    times[recorder.peer()] = times_of(recorder.peer(), *recorder.life(), rounds);
  };
  Observer observer(fleet.fleet.size(), fleet.evaluator(), {});
  simulate(fleet, observer, options);
  std::vector<PeerTimes> all;
  for (const auto& [peer, each] : times) all.push_back(each);
  std::vector<std::string> words;
  for (const Culprit& culprit : culprits(all)) {
    const std::string peer = std::to_string(culprit.peer);
    if (culprit.kind == Kind::peer) words.push_back("peer " + peer);
    if (culprit.kind == Kind::link)
      words.push_back("link " + peer + " " + std::to_string(culprit.other));
    if (culprit.kind == Kind::network) words.push_back("network " + peer);
  }
  return words;
}

using Words = std::vector<std::string>;

/// A method on a graph, in a fleet of six, and a bandwidth that holds all of it up.
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
  EXPECT_EQ(blamed(fleet_of("peers: 6\n" + shape())), Words{});
}

TEST_P(PlantedIn, ASlowProcessorIsBlamed) {
  EXPECT_EQ(
      blamed(fleet_of("peers: [{ count: 3 }, { count: 1, speed: 0.1 }, { count: 2 }]\n" + shape())),
      Words{"peer 3"});
}

/// Who waits for it is waited for by others, and was blamed in its place.
TEST_P(PlantedIn, ASlowLinkIsBlamedAndNotWhoWaitsForIt) {
  EXPECT_EQ(blamed(fleet_of("peers: 6\n" + shape() + narrow("[2, 3]"))), Words{"link 2 3"});
}

TEST_P(PlantedIn, ASlowNetworkOfOnePeerIsBlamed) {
  EXPECT_EQ(blamed(fleet_of("peers: 6\n" + shape() + narrow("[4, '*']"))), Words{"network 4"});
}

TEST_P(PlantedIn, APausedProcessIsBlamedAndNoLink) {
  const auto options = injecting({{.at = milliseconds(200),
                                   .kind = Injection::Kind::stop,
                                   .peer = 2,
                                   .length = milliseconds(4000)}},
                                 LinkTimes{});
  EXPECT_EQ(blamed(fleet_of("peers: 6\n" + shape()), options), Words{"peer 2"});
}

/// A slow processor at a slow link: its rounds take as long as both together.
TEST_P(PlantedIn, TwoCausesAtOnceAreBothBlamed) {
  Words words = blamed(fleet_of("peers: [{ count: 2 }, { count: 1, speed: 0.03 }, { count: 3 }]\n" +
                                shape() + narrow("[2, 3]")));
  std::ranges::sort(words);
  EXPECT_EQ(words, (Words{"link 2 3", "peer 2"}));
}

/// What a process had begun to send when it was stopped is on its way until it goes on.
TEST(Culprits, WhoStandsStillIsBlamedForWhatItHadBegunToSend) {
  const auto times = [](PeerId peer, double wire, double other, PeerId a, PeerId b) {
    PeerTimes all{.peer = peer, .waits = {{a, 0, wire / 2}, {b, 0, wire / 2}}};
    all.spent[static_cast<std::size_t>(Activity::wire)] = wire;
    all.spent[static_cast<std::size_t>(Activity::other)] = other;
    all.spent[static_cast<std::size_t>(Activity::compute)] = 100 - wire - other;
    return all;
  };
  const std::vector<PeerTimes> ring{
      times(0, 80, 0, 1, 3), times(1, 40, 50, 0, 2), times(2, 80, 0, 1, 3), times(3, 80, 0, 0, 2)};
  const std::vector<Culprit> found = culprits(ring);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].kind, Kind::peer);
  EXPECT_EQ(found[0].peer, 1U);
  EXPECT_EQ(found[0].activity, Activity::other);
}

/// 100 s of a peer: so many at its gradients, and so many it waits for each neighbour.
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

/// As four machines over TLS recorded it, one of which had 4 % of a processor: its messages were
/// long on their way, since it encrypted them as slowly as it computed. Its network was blamed.
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

/// What a stop delays, it delays on all links: what is longer on one of them is that one's. A slow
/// link to a peer that was stopped again and again was not named.
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

/// Messages that take a little longer to and from one of them are no slow network.
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
