#include "peer/launch/discovery/discovery.h"

#include <algorithm>
#include <chrono>
#include <set>
#include <thread>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "peer/launch/agent/facts/interfaces.h"
#include "peer/launch/discovery/group_socket.h"
#include "peer/wire/socket/descriptor.h"

namespace gv {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

// All tests stay on the loopback: no packet leaves this machine. Their lobbies have numbers of this
// process, because the tests of another copy may run at the same time.
const std::vector<std::string> loopback{"lo"};
const unsigned here = 100'000 + static_cast<unsigned>(::getpid()) % 800'000;

std::vector<FoundLobby> found(std::optional<unsigned> lobby, Time patience = 4s) {
  return find_lobbies(lobby, patience, {}, loopback);
}

/// Returns the packets that come to a socket within this time.
std::vector<MdnsPacket> packets_at(GroupSocket& socket, Clock::duration time) {
  std::vector<MdnsPacket> packets;
  const Clock::time_point until = Clock::now() + time;
  while (Clock::now() < until) {
    const std::optional<GroupPacket> packet = socket.receive();
    if (packet)
      packets.emplace_back(packet->bytes.begin(), packet->bytes.end());
    else
      std::this_thread::sleep_for(2ms);
  }
  return packets;
}

/// With other interfaces, the kernel may send from their addresses over the loopback. So these
/// tests run in a network namespace that has the loopback alone, and leave it afterwards.
class Discovery : public testing::Test {
 protected:
  void SetUp() override {
    before_ = Descriptor(::open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC));
    if (::unshare(CLONE_NEWNET) != 0) {
      before_.close();
      if (!interface_addresses().empty())
        GTEST_SKIP() << "root makes network namespaces, and this machine has other interfaces";
      return;
    }
    const Descriptor any(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    ifreq lo{};
    std::string_view("lo").copy(lo.ifr_name, sizeof lo.ifr_name - 1);
    lo.ifr_flags = IFF_UP | IFF_RUNNING | IFF_MULTICAST;
    ASSERT_EQ(::ioctl(any.get(), SIOCSIFFLAGS, &lo), 0);
  }
  void TearDown() override {
    if (before_.open()) ::setns(before_.get(), CLONE_NEWNET);
  }

 private:
  Descriptor before_;
};

TEST_F(Discovery, FindsALobbyOfThisMachine) {
  const LobbyResponder lobby(here, 27001, 3, loopback);
  const Clock::time_point begun = Clock::now();
  const std::vector<FoundLobby> all = found(here, 10s);
  EXPECT_LT(Clock::now() - begun, 5s) << "and soon";
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].notice.lobby, here);
  EXPECT_EQ(all[0].notice.port, 27001);
  EXPECT_EQ(all[0].notice.version, 3);
  EXPECT_EQ(all[0].notice.host, lobby.host());
  EXPECT_TRUE(all[0].is_here);
  ASSERT_FALSE(all[0].addresses.empty());
  EXPECT_EQ(all[0].addresses.front(), "127.0.0.1");
}

TEST_F(Discovery, FindsNoLobbyOfAnotherNumber) {
  const LobbyResponder lobby(here, 27001, 1, loopback);
  const Clock::time_point begun = Clock::now();
  EXPECT_TRUE(found(here + 1, 600ms).empty());
  EXPECT_GE(Clock::now() - begun, 600ms) << "the patience is used up";
}

TEST_F(Discovery, DistinguishesTwoLobbiesOfOneNumber) {
  const LobbyResponder one(here, 27001, 1, loopback), two(here, 27002, 1, loopback);
  const LobbyResponder other(here + 1, 27003, 1, loopback);
  ASSERT_NE(one.host(), two.host());
  const std::vector<FoundLobby> both = found(here);
  ASSERT_EQ(both.size(), 2U);
  const bool sorted = one.host() < two.host();
  EXPECT_EQ(both[0].notice.host, std::min(one.host(), two.host()));
  EXPECT_EQ(both[0].notice.port, sorted ? 27001 : 27002);
  EXPECT_EQ(both[1].notice.port, sorted ? 27002 : 27001);
}

TEST_F(Discovery, FindsAllLobbiesWithoutANumber) {
  const LobbyResponder one(here, 27001, 1, loopback), two(here + 1, 27002, 1, loopback);
  std::set<unsigned> numbers;
  for (const FoundLobby& each : found({}, 1500ms)) numbers.insert(each.notice.lobby);
  EXPECT_TRUE(numbers.contains(here) && numbers.contains(here + 1));
}

TEST_F(Discovery, StopsSoon) {
  const Clock::time_point begun = Clock::now();
  const auto stopped = [&] { return Clock::now() - begun > 200ms; };
  EXPECT_TRUE(find_lobbies(here, 30s, stopped, loopback).empty());
  EXPECT_LT(Clock::now() - begun, 5s);
}

TEST_F(Discovery, FindsNoClosedLobby) {
  GroupSocket listener(false, mdns_port);
  ASSERT_TRUE(listener.open() && listener.join(::if_nametoindex("lo")));
  std::string host;
  {
    const LobbyResponder lobby(here, 27001, 1, loopback);
    host = lobby.host();
    packets_at(listener, 300ms);  // the first announcement
  }
  EXPECT_TRUE(found(here, 600ms).empty());
  const LobbyNotice closed{

      .lobby = here, .port = 27001, .host = host, .addresses = {"127.0.0.1"}, .version = 1};
  const std::vector<MdnsPacket> packets = packets_at(listener, 100ms);
  EXPECT_TRUE(std::ranges::any_of(packets, [&](const MdnsPacket& each) {
    const MdnsPacket goodbye = lobby_goodbye(closed);  // up to the records of addresses
    return each.size() > 150 &&
           std::equal(goodbye.begin() + 12, goodbye.begin() + 150, each.begin() + 12);
  })) << "it has said goodbye";
}

/// Counts the answers of lobby `here` to questions from this socket that come within this time.
std::size_t answers_to(GroupSocket& asker,
                       const MdnsPacket& packet,
                       int times,
                       Clock::duration patience = 1s) {
  for (int k = 0; k < times; ++k) asker.send_to_group(packet, ::if_nametoindex("lo"));
  std::size_t answers = 0;
  for (const MdnsPacket& each : packets_at(asker, patience))
    for (const LobbyNotice& notice : parse_lobby_answer(each, {}))
      if (notice.lobby == here) ++answers;
  return answers;
}

TEST_F(Discovery, AnswersAFloodWithAtMostFiftyASecond) {
  const Clock::time_point begun = Clock::now();
  const LobbyResponder lobby(here, 27001, 1, loopback);
  GroupSocket asker(false, 0);
  const std::size_t answers = answers_to(asker, lobby_question(7), 150);
  const double seconds = std::chrono::duration<double>(Clock::now() - begun).count();
  EXPECT_GE(answers, 50U);
  EXPECT_LE(static_cast<double>(answers), 50 + 50 * seconds) << "the reserve, and 50 a second";
}

TEST_F(Discovery, AnswersQuestionsFromItsPortOnceASecond) {
  const LobbyResponder lobby(here, 27001, 1, loopback);
  GroupSocket asker(false, mdns_port);
  ASSERT_TRUE(asker.open() && asker.join(::if_nametoindex("lo")));
  const std::size_t answers = answers_to(asker, lobby_question(0), 100);
  EXPECT_GE(answers, 1U);
  EXPECT_LE(answers, 2U);
}

TEST_F(Discovery, IsSilentOnBadPackets) {
  const LobbyResponder lobby(here, 27001, 1, loopback);
  GroupSocket asker(false, 0);
  MdnsPacket longer = lobby_question(7);
  longer.resize(most_mdns_bytes + 1);
  MdnsPacket shorter = lobby_question(7);
  shorter.pop_back();
  MdnsPacket response = lobby_question(7);
  response[2] = std::byte{0x80};
  for (const MdnsPacket& bad : {MdnsPacket{}, longer, shorter, response})
    EXPECT_EQ(answers_to(asker, bad, 3, 200ms), 0U) << bad.size();
  EXPECT_EQ(answers_to(asker, lobby_question(7), 3, 500ms), 3U) << "and still answers good ones";
}

/// Answers a question for a lobby as another machine would, with this hop limit.
std::size_t found_with_hops(int hops) {
  GroupSocket other(false, mdns_port);
  EXPECT_TRUE(other.open() && other.join(::if_nametoindex("lo")));
  ::setsockopt(other.fd(), IPPROTO_IP, IP_TTL, &hops, sizeof hops);
  const LobbyNotice notice{.lobby = here,
                           .port = 27001,
                           .host = lobby_host(here, 1),
                           .addresses = {"192.0.2.7"},
                           .version = 1};
  std::jthread answers([&](const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      const std::optional<GroupPacket> packet = other.receive();
      if (!packet) {
        std::this_thread::sleep_for(2ms);
      } else if (const auto asked = parse_lobby_question(packet->bytes, notice)) {
        other.send(lobby_answer(*asked, notice, AnswerForm::unicast), packet->from, 0);
      }
    }
  });
  return found(here, 500ms).size();
}

TEST_F(Discovery, BelievesNoAnswerThatARouterHasForwarded) {
  EXPECT_EQ(found_with_hops(255), 1U);
  EXPECT_EQ(found_with_hops(254), 0U);
}

/// A unicast question may come from another network.
TEST_F(Discovery, IsSilentOnUnicastQuestions) {
  const LobbyResponder lobby(here, 27001, 1, loopback);
  GroupSocket asker(false, 0);
  for (const char* address : {"127.0.0.1", "127.0.0.2"})
    asker.send(lobby_question(7), known_addresses(address, mdns_port).front(), 0);
  EXPECT_TRUE(packets_at(asker, 300ms).empty());
}

}  // namespace
}  // namespace gv
