#include <chrono>
#include <numeric>
#include <ostream>
#include <set>

#include <gtest/gtest.h>

#include "tests/gossip/link/memory_net.h"
#include "tests/peer/wire/link/link_net.h"

// Rules for every carrier of the link layer: the same cases in memory, over the network of the
// swarm, and over sockets.

namespace gv {

bool Seen::was_told(const std::string& what) const {
  return std::ranges::find(told, what) != told.end();
}

namespace {

using std::chrono::milliseconds;

struct CarrierKind {
  const char* name;
  std::unique_ptr<LinkNet> (*make)();
};

std::ostream& operator<<(std::ostream& out, const CarrierKind& kind) {
  return out << kind.name;
}

class Conformance : public testing::TestWithParam<CarrierKind> {
 protected:
  /// Returns the settings of process `id` of the two, in its `life`.
  static LinkSettings settings(PeerId id, int life = 1) {
    LinkSettings settings = settings_of(id, 2, {1 - id}, life);
    settings.times.heartbeat = milliseconds(50);
    settings.times.dead_after = milliseconds(1000);
    settings.times.reconnect_within = milliseconds(300);
    settings.times.handshake = milliseconds(1000);
    settings.times.join_within = milliseconds(300);
    return settings;
  }
  void start_both() {
    net->start(settings(0));
    net->start(settings(1));
    ASSERT_TRUE(net->until([&] { return net->seen(0).begun && net->seen(1).begun; }));
  }
  bool until_both(const std::function<bool(const Seen&)>& so) {
    return net->until([&] { return so(net->seen(0)) && so(net->seen(1)); });
  }
  static std::vector<Round> up_to(Round last) {
    std::vector<Round> numbers(last);
    std::iota(numbers.begin(), numbers.end(), 1);
    return numbers;
  }

  const std::unique_ptr<LinkNet> net = GetParam().make();
};

TEST_P(Conformance, BothBeginWhenTheyHaveMet) {
  net->start(settings(0));
  EXPECT_FALSE(net->seen(0).begun);
  net->start(settings(1));
  EXPECT_TRUE(until_both([](const Seen& seen) { return seen.begun; }));
}

TEST_P(Conformance, EachMessageIsTakenOnceAndInOrderWhateverBreaks) {
  start_both();
  constexpr Round last = 300;
  for (Round k = 1; k <= last; ++k) {
    for (PeerId from = 0; from < 2; ++from) net->send(from, k, 100);
    if (k % 30 != 0) continue;
    ASSERT_TRUE(until_both([k](const Seen& seen) { return seen.taken.size() >= k / 2; }));
    net->break_connection();
  }
  EXPECT_TRUE(until_both([](const Seen& seen) { return seen.taken.size() >= last; }));
  for (PeerId id = 0; id < 2; ++id) {
    EXPECT_EQ(net->seen(id).taken, up_to(last));
    EXPECT_EQ(net->seen(id).bytes, last * 100);
  }
}

TEST_P(Conformance, LargePayloadsComeWholeThoughTheirConnectionBreaks) {
  start_both();
  constexpr std::size_t bytes = 1 << 20;
  for (Round k = 1; k <= 8; ++k) net->send(0, k, bytes);
  ASSERT_TRUE(net->until([&] { return net->seen(1).taken.size() >= 2; }));
  net->break_connection();
  EXPECT_TRUE(net->until([&] { return net->seen(1).taken.size() >= 8; }));
  EXPECT_EQ(net->seen(1).taken, up_to(8));
  EXPECT_EQ(net->seen(1).bytes, 8 * bytes);
}

/// The end that notices first opens another connection, so the other end need not notice.
TEST_P(Conformance, ASilentConnectionIsReplacedAndNothingIsLost) {
  start_both();
  net->swallow();
  net->send(0, 1);
  net->send(1, 1);
  EXPECT_TRUE(net->until(
      [&] { return net->seen(0).was_told("away 1") || net->seen(1).was_told("away 0"); }));
  EXPECT_TRUE(until_both([](const Seen& seen) { return !seen.taken.empty(); }));
  for (PeerId id = 0; id < 2; ++id) {
    const Seen seen = net->seen(id);
    EXPECT_EQ(seen.taken, up_to(1));
    EXPECT_TRUE(seen.told.empty() || seen.told.back() == "back " + std::to_string(1 - id));
  }
}

TEST_P(Conformance, WhatIsSentDuringACutComesAfterIt) {
  start_both();
  net->send(0, 1);
  ASSERT_TRUE(net->until([&] { return net->seen(1).taken.size() == 1; }));
  net->cut(milliseconds(600));
  EXPECT_TRUE(net->until([&] { return net->seen(0).was_told("away 1"); }));
  net->send(0, 2);
  EXPECT_TRUE(net->until([&] { return net->seen(1).taken.size() == 2; }));
  EXPECT_EQ(net->seen(1).taken, up_to(2));
  EXPECT_TRUE(net->until([&] { return net->seen(0).was_told("back 1"); }));  // perhaps later
  EXPECT_FALSE(net->seen(0).was_told("died 1"));
}

TEST_P(Conformance, ASuccessorHearsNothingThatWasMeantForTheDead) {
  start_both();
  net->kill(1);
  net->send(0, 1);
  EXPECT_TRUE(net->until([&] { return net->seen(0).was_told("died 1"); }));
  net->start(settings(1, 2));
  EXPECT_TRUE(
      net->until([&] { return net->seen(0).was_told("replaced 1") && net->seen(1).begun; }));
  net->send(0, 2);
  net->send(1, 3);
  EXPECT_TRUE(until_both([](const Seen& seen) { return !seen.taken.empty(); }));
  EXPECT_EQ(net->seen(1).taken, std::vector<Round>{2});
  EXPECT_EQ(net->seen(0).taken, std::vector<Round>{3});
}

TEST_P(Conformance, WhoIsDialledDiesToo) {
  start_both();
  net->kill(0);  // it dialled the other, which therefore calls its address
  EXPECT_TRUE(net->until([&] { return net->seen(1).was_told("died 0"); }));
}

/// A process leaves as soon as its own goodbye is acknowledged, or when the connection ends after
/// it received the other's goodbye. So one of the two may miss the other's goodbye, but never both.
TEST_P(Conformance, BothLeaveWhenNothingIsOwed) {
  for (const bool broken : {false, true}) {
    SCOPED_TRACE(broken);
    const std::unique_ptr<LinkNet> other = GetParam().make();
    other->start(settings(0));
    other->start(settings(1));
    ASSERT_TRUE(other->until([&] { return other->seen(0).begun && other->seen(1).begun; }));
    for (PeerId from = 0; from < 2; ++from) {
      other->say_goodbye(from, 5);
      other->end(from);
    }
    if (broken) other->break_connection();
    EXPECT_TRUE(other->until([&] { return other->seen(0).left && other->seen(1).left; }));
    const std::multiset<std::vector<Round>> taken{other->seen(0).taken, other->seen(1).taken};
    EXPECT_GE(taken.count({5}), 1);
    EXPECT_EQ(taken.count({5}) + taken.count({}), 2);
  }
}

TEST_P(Conformance, WhoIsOfAnotherFleetIsRefused) {
  LinkSettings stranger = settings(1);
  stranger.self.fleet = "another fleet";
  LinkSettings ours = settings(0);
  ours.times.connect = stranger.times.connect = milliseconds(3000);
  net->start(ours);
  net->start(stranger);
  EXPECT_TRUE(until_both([](const Seen& seen) { return !seen.failure.empty(); }));
  EXPECT_NE(net->seen(0).failure.find("fleet"), std::string::npos) << net->seen(0).failure;
  EXPECT_FALSE(net->seen(0).begun || net->seen(1).begun);
}

TEST_P(Conformance, WhoCannotBeReachedIsNamed) {
  LinkSettings alone = settings(0);
  alone.times.connect = milliseconds(300);
  net->start(alone);
  EXPECT_TRUE(net->until([&] { return !net->seen(0).failure.empty(); }));
  EXPECT_NE(net->seen(0).failure.find("peer 1"), std::string::npos) << net->seen(0).failure;
}

INSTANTIATE_TEST_SUITE_P(EveryCarrier,
                         Conformance,
                         testing::Values(CarrierKind{"memory", memory_link_net},
                                         CarrierKind{"sim", sim_link_net},
                                         CarrierKind{"tcp", tcp_link_net},
                                         CarrierKind{"shared", shared_link_net},
                                         CarrierKind{"tls", tls_link_net}),
                         [](const auto& each) { return std::string(each.param.name); });

}  // namespace
}  // namespace gv
