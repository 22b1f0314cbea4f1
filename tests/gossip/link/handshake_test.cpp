#include "gossip/link/handshake.h"

#include "gossip/link/carrier.h"
#include "tests/gossip/link/one_link.h"

namespace gv {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

TEST_F(OneLink, WhoBelongsToAnotherFleetIsRefused) {
  make();
  Hello other = hello_of(1);
  other.fleet = "another";
  EXPECT_TRUE(closed(meet(other)));
  EXPECT_EQ(failure, "") << "it may be a stranger, who goes again";
  EXPECT_EQ(begins, 0);
  // The failure is permanent.
  for (int k = 0; k < 20; ++k) {
    pass(milliseconds(100));
    if (failure.empty()) meet(other);
  }
  EXPECT_NE(failure.find("another fleet"), std::string::npos) << failure;
}

TEST_F(OneLink, AStrangersRefusalDoesNotEndTheStart) {
  make();
  const ConnectionId c = dialled.at(1);
  links->connected(c, now);
  links->arrived(c, Refusal{"go away"}, now);
  pass(milliseconds(100));
  meet();
  EXPECT_EQ(failure, "");
  EXPECT_EQ(begins, 1);
}

/// Found by trying: after a standstill a data server read the last messages of a dead peer, and
/// took it for living for two more heartbeats. Its successor waited for as long, gave up, and the
/// server waited for it forever.
TEST_F(OneLink, ASuccessorIsPatientWithWhoHasNotMissedTheDeadYet) {
  LinkSettings settings = settings_of(0, 3, {1, 2});
  settings.rejoin = settings.successors = true;
  const auto refuse = [this](int tenths) {
    for (int k = 0; k < tenths && failure.empty(); ++k) {
      links->connected(dialled.at(1), now);
      links->arrived(dialled.at(1), Refusal{"peer 0 is already here"}, now);
      pass(milliseconds(100));
    }
  };
  make(settings);
  refuse(30);
  EXPECT_EQ(failure, "");
  pass(seconds(1));  // waits for the next dial
  meet(hello_of(1));
  pass(seconds(2));
  EXPECT_EQ(begins, 1);

  make(settings);
  meet(hello_of(2));
  refuse(20);
  EXPECT_EQ(begins, 2) << "with those who are there";
  EXPECT_EQ(failure, "");

  make(settings);
  refuse(70);
  EXPECT_NE(failure.find("do not fit: peer 0 is already here"), std::string::npos) << failure;
}

TEST_F(OneLink, WhoCannotBeReachedIsNamedInTime) {
  make_two();
  meet(hello_of(2));
  links->ended(dialled.at(1), "Connection refused", now);
  while (failure.empty() && dial_times.size() < 1000) {
    pass(milliseconds(500));
    if (failure.empty()) links->ended(dialled.at(1), "Connection refused", now);
    links->arrived(dialled.at(2), Heartbeat{}, now);
  }
  EXPECT_EQ(failure, "not connected in time: peer 1 (Connection refused)");
}

TEST_F(OneLink, AFleetThatTrainsIsJoinedWithoutItsLastMember) {
  make_two();
  Hello trained = hello_of(1);
  trained.clock = 12;
  meet(trained);
  EXPECT_EQ(begins, 0);
  pass(seconds(2));
  EXPECT_EQ(begins, 1);
  EXPECT_EQ(user.told, (std::vector<std::string>{"away 2"}));
  meet(hello_of(2));
  EXPECT_EQ(user.told.back(), "back 2");
}

/// Peer 2 of three; the others dial it.
struct Accepting : OneLink {
  void SetUp() override { make(settings_of(2, 3, {0, 1})); }
  ConnectionId connect_as(const std::string& host = "10.0.0.9", bool known = false) {
    return links->accepted(host, 7, now, {.known = known, .crowded = false});
  }
  ConnectionId come(const Hello& hello) {
    const ConnectionId c = connect_as();
    links->arrived(c, hello, now);
    return c;
  }
};

TEST_F(Accepting, AnswersAHelloThatFits) {
  const ConnectionId c = come(hello_of(1));
  EXPECT_EQ(admitted, std::vector<ConnectionId>{c});
  EXPECT_EQ(frames<Hello>().size(), 1U);
  come(hello_of(0));
  EXPECT_EQ(begins, 1);
}

TEST_F(Accepting, SaysWhyItRefusesAndLogsIt) {
  const ConnectionId c = come(settings_of(1, 4, {}).self);
  EXPECT_EQ(finished, std::vector<ConnectionId>{c});
  EXPECT_EQ(frames<Refusal>().at(0).reason, "a fleet of 4 peers, ours has 3");
  EXPECT_NE(log.find("refused a connection from 10.0.0.9:7"), std::string::npos) << log;
  come(hello_of(2));
  EXPECT_EQ(frames<Refusal>().at(1).reason, "peer 2 does not dial peer 2 in this topology");
  links->arrived(connect_as(), Heartbeat{}, now);
  EXPECT_EQ(frames<Refusal>().at(2).reason, "the first frame is no Hello");
  EXPECT_TRUE(admitted.empty());
}

TEST_F(Accepting, ALiveNeighbourIsNotReplacedAndASilentOneIs) {
  come(hello_of(1));
  come(hello_of(1, 2));
  EXPECT_EQ(frames<Refusal>().at(0).reason, "peer 1 is already here");
  come(hello_of(1));
  EXPECT_EQ(admitted.size(), 2U) << "the same process may come again";
  pass(milliseconds(1100));
  come(hello_of(1, 2));
  EXPECT_EQ(admitted.size(), 3U);
  EXPECT_EQ(user.told, (std::vector<std::string>{"replaced 1"}));
}

/// Found by trying: a server of a fleet without successors was away forever, since its next process
/// was refused again and again, and its old one could not return.
TEST_F(Accepting, AProcessInWhosePlaceAnotherComesIsDeadWhereNoneSucceeds) {
  for (const bool successors : {false, true}) {
    user.told.clear();
    LinkSettings settings = settings_of(2, 3, {0, 1});
    settings.successors = successors;
    make(settings);
    come(hello_of(0));
    links->ended(come(hello_of(1)), "reset", now);
    pass(milliseconds(100));
    come(settings_of(1, 4, {}, 2).self);
    EXPECT_TRUE(user.told.empty()) << "it is of another fleet";
    come(hello_of(1, 2));
    EXPECT_EQ(user.told, successors ? std::vector<std::string>{"replaced 1"}
                                    : (std::vector<std::string>{"away 1", "died 1"}));
  }
}

TEST_F(Accepting, EveryKindOfRefusalIsSaidOnlyNowAndThen) {
  for (int k = 0; k < 1000; ++k) {
    const ConnectionId babbler = connect_as();
    links->hear_bytes(babbler, 9, now);
    links->ended(babbler, "not a frame of Grapevine", now);
    links->arrived(connect_as(), Heartbeat{}, now);
    come(settings_of(1, 4, {}).self);
  }
  EXPECT_EQ(std::ranges::count(log, '\n'), 5);
  pass(milliseconds(500));
  EXPECT_NE(log.find("refused 2995 more connections"), std::string::npos) << log;
}

/// A process that is dying may still listen when its connection is closed already.
TEST_F(Accepting, AsksAgainAndAgainWhetherWhoIsAwayHasDied) {
  const ConnectionId c = come(hello_of(1));
  come(hello_of(0));
  links->ended(c, "closed", now);
  EXPECT_EQ(probes, 1);
  pass(seconds(2));
  EXPECT_TRUE(user.was_told("away 1"));
  EXPECT_GE(probes, 3);
  links->nobody_listens(1, "refused", now);
  EXPECT_TRUE(user.was_told("died 1"));
  const int asked = probes;
  pass(seconds(2));
  EXPECT_EQ(probes, asked) << "it is known";
}

TEST_F(Accepting, WhoComesAndGoesWithoutAWordIsNoNews) {
  links->ended(connect_as(), "it closed the connection", now);
  EXPECT_EQ(log, "");
}

TEST_F(Accepting, TextOfStrangersIsEscaped) {
  Hello hello = hello_of(1);
  hello.model = "\x1b]0;mine\x07\n";
  come(hello);
  EXPECT_EQ(log.find('\x1b'), std::string::npos);
  EXPECT_EQ(std::ranges::count(log, '\n'), 1);
  EXPECT_NE(log.find("\\x1b]0;mine"), std::string::npos) << log;
}

TEST_F(Accepting, ThirtyTwoWaitAtTheMostAndHalfOfThemAreStrangers) {
  std::vector<ConnectionId> all;
  for (int k = 0; k < 4; ++k) all.push_back(connect_as("10.0.0." + std::to_string(k)));
  for (int k = 0; k < 100; ++k) all.push_back(connect_as("10.0.1.1"));
  EXPECT_EQ(closings.size(), 92U) << "eight of one address";
  for (int k = 0; k < 4; ++k) EXPECT_FALSE(closed(all[static_cast<std::size_t>(k)]));
  for (int k = 0; k < 100; ++k) connect_as("127.0.0.1");
  EXPECT_EQ(104U + 100U - closings.size(), 16U);
  for (int k = 0; k < 4; ++k) EXPECT_FALSE(closed(all[static_cast<std::size_t>(k)]));
  // A later connection is still accepted.
  const ConnectionId friendly = connect_as("10.0.0.77");
  links->arrived(friendly, hello_of(1), now);
  EXPECT_EQ(admitted, std::vector<ConnectionId>{friendly});
}

/// Strangers never take the places of addresses that neighbours use, however many connect.
TEST_F(Accepting, StrangersNeverTakeThePlacesOfNeighbours) {
  std::vector<ConnectionId> ours;
  for (int k = 0; k < 8; ++k) ours.push_back(connect_as("10.0.0.1", true));
  for (int k = 0; k < 8; ++k) ours.push_back(connect_as("10.0.0.2", true));
  for (int k = 0; k < 1000; ++k) connect_as("10.0." + std::to_string(k % 250) + ".66");
  for (const ConnectionId c : ours) EXPECT_FALSE(closed(c)) << c;
  EXPECT_EQ(1000U - closings.size(), 16U);
  // More neighbours than half of the places: strangers make room first, and never have more.
  for (int k = 0; k < 8; ++k) ours.push_back(connect_as("10.0.0.3", true));
  for (const ConnectionId c : ours) EXPECT_FALSE(closed(c)) << c;
  EXPECT_EQ(1000U - closings.size(), 8U);
  // A neighbour that connects endlessly only replaces its own connections.
  for (int k = 0; k < 100; ++k) connect_as("10.0.0.1", true);
  for (std::size_t k = 8; k < ours.size(); ++k) EXPECT_FALSE(closed(ours[k])) << k;
}

/// An IPv6 stranger has 2^64 addresses.
TEST_F(Accepting, StrangersOfOneNetworkCountAsOne) {
  std::vector<ConnectionId> came;
  for (int k = 0; k < 12; ++k)
    came.push_back(links->accepted("fd00::" + std::to_string(k), 7, now,
                                   {.known = false, .crowded = false, .origin = "fd00::/64"}));
  const ConnectionId neighbor = connect_as("fd00::1", true);
  for (std::size_t k = 0; k < came.size(); ++k) EXPECT_EQ(closed(came[k]), k < 4) << k;
  EXPECT_FALSE(closed(neighbor));
}

TEST_F(Accepting, WhereDescriptorsAreFewTheOldestStrangerGoes) {
  const ConnectionId first = connect_as();
  const ConnectionId second =
      links->accepted("10.0.0.9", 7, now, {.known = false, .crowded = true});
  EXPECT_TRUE(closed(first));
  EXPECT_FALSE(closed(second));
}

/// The first byte follows at once over a real network; a caller that has sent it gets more time.
TEST_F(Accepting, WhoDoesNotEvenBeginHasLessTime) {
  LinkSettings settings = settings_of(2, 3, {0, 1});
  settings.times.first_byte = seconds(1);
  make(settings);
  const ConnectionId silent = connect_as();
  const ConnectionId slow = connect_as("10.0.0.8");
  pass(milliseconds(900));
  links->hear_bytes(slow, 1, now);
  EXPECT_FALSE(closed(silent));
  pass(milliseconds(200));
  EXPECT_TRUE(closed(silent));
  EXPECT_FALSE(closed(slow));
  pass(milliseconds(1800));
  EXPECT_FALSE(closed(slow));
  links->hear_bytes(slow, 1, now);
  pass(milliseconds(200));
  EXPECT_TRUE(closed(slow)) << "a byte now and then buys no time";
}

TEST_F(Accepting, AStrangerThatSaysNothingGoes) {
  const ConnectionId c = connect_as();
  pass(seconds(3));
  EXPECT_TRUE(closed(c));
  EXPECT_NE(log.find("no Hello in time"), std::string::npos) << log;
}

TEST(Printable, EscapesAndCuts) {
  EXPECT_EQ(printable("peer 3: \xff\x1b[2J\n"), "peer 3: \\xff\\x1b[2J\\x0a");
  EXPECT_EQ(printable(std::string(128, 'a')), std::string(128, 'a'));
  EXPECT_EQ(printable(std::string(129, 'a')), std::string(125, 'a') + "...");
  EXPECT_LE(printable(std::string(1000, '\n')).size(), 128U);
}

}  // namespace
}  // namespace gv
