#include <chrono>
#include <future>

#include <fcntl.h>
#include <sched.h>

#include "peer/launch/discovery/discovery.h"
#include "peer/wire/socket/descriptor.h"
#include "tests/lan/lab.h"

// Lobbies that are found by their number on networks of one address family and of both.

namespace gv {
namespace {

using namespace std::chrono_literals;

class LobbyLab : public Lab {
 protected:
  /// Calls a function in a thread that is in the network of a host; its own threads are there too.
  template <class Act>
  auto inside(const std::string& host, Act act) const {
    const std::string space = fmt::format("/var/run/netns/{}-{}", prefix(), host);
    return std::async(std::launch::async,
                      [&] {
                        const Descriptor network(::open(space.c_str(), O_RDONLY | O_CLOEXEC));
                        EXPECT_EQ(::setns(network.get(), CLONE_NEWNET), 0) << space;
                        return act();
                      })
        .get();
  }
  std::unique_ptr<LobbyResponder> lobby_on(const std::string& host, unsigned number = 42) const {
    return inside(host, [&] { return std::make_unique<LobbyResponder>(number, 27001, 1); });
  }
  std::vector<FoundLobby> found_from(const std::string& host,
                                     Time patience = 10s,
                                     const std::vector<std::string>& interfaces = {}) const {
    return inside(host, [&] { return find_lobbies(42, patience, {}, interfaces); });
  }
  /// Runs `ip` with these arguments in the network of a host.
  void ip(const std::string& host, const std::string& arguments) const {
    const std::string said = said_by(fmt::format("ip -n {}-{} {}", prefix(), host, arguments));
    EXPECT_EQ(said, "") << arguments;
  }
  /// Gives anna and ben a second link: eth1 with 10.78.0.1 and 10.78.0.2.
  void link_twice() const {
    ip("anna", fmt::format("link add eth1 type veth peer name eth1 netns {}-ben", prefix()));
    ip("anna", "address add 10.78.0.1/24 dev eth1");
    ip("ben", "address add 10.78.0.2/24 dev eth1");
    ip("anna", "link set eth1 up");
    ip("ben", "link set eth1 up");
  }
};

struct Surrounding {
  const char* title;
  const char* net;                      ///< option of tests/lan/lab
  const char* first;                    ///< address of anna that ben calls first
  std::vector<const char*> beginnings;  ///< each begins an address of anna
};

void PrintTo(const Surrounding& network, std::ostream* out) {
  *out << network.title;
}

class LobbyNetworks : public LobbyLab, public testing::WithParamInterface<Surrounding> {
 protected:
  std::string hosts() const override {
    return fmt::format("--net {} anna ben carl", GetParam().net);
  }
};

TEST_P(LobbyNetworks, FindTheLobbyOfANumber) {
  const auto lobby = lobby_on("anna");
  const auto other = lobby_on("anna", 17);
  const std::vector<FoundLobby> all = found_from("ben");
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].notice.host, lobby->host());
  EXPECT_EQ(all[0].notice.port, 27001);
  EXPECT_FALSE(all[0].is_here);
  ASSERT_FALSE(all[0].addresses.empty());
  EXPECT_EQ(all[0].addresses.front(), GetParam().first);
  const std::string joined = fmt::format(" {}", fmt::join(all[0].addresses, " "));
  for (const char* beginning : GetParam().beginnings)
    EXPECT_NE(joined.find(fmt::format(" {}", beginning)), std::string::npos) << joined;
  EXPECT_EQ(joined.find("127.0.0.1"), std::string::npos) << joined;
}

TEST_P(LobbyNetworks, FindBothLobbiesOfOneNumber) {
  const auto one = lobby_on("anna"), two = lobby_on("ben");
  EXPECT_EQ(found_from("carl").size(), 2U);
  EXPECT_EQ(found_from("anna").size(), 2U) << "its own too";
}

TEST_P(LobbyNetworks, FindNoLobbyThatIsGone) {
  lobby_on("anna").reset();
  EXPECT_TRUE(found_from("ben", 1500ms).empty());
}

INSTANTIATE_TEST_SUITE_P(
    Lan,
    LobbyNetworks,
    testing::Values(Surrounding{"IPv4Alone", "4", "10.77.0.1", {"10.77.0.1"}},
                    Surrounding{"IPv6Alone", "6", "fd77::1", {"fd77::1", "fe80::"}},
                    Surrounding{"Both", "both", "10.77.0.1", {"10.77.0.1", "fd77::1", "fe80::"}},
                    Surrounding{"LinkLocalAlone", "local", "fe80::77:0%eth0", {"fe80::"}}),
    [](const auto& each) { return std::string(each.param.title); });

class LobbySearch : public LobbyLab {};

TEST_F(LobbySearch, AreFoundOnceOverTwoInterfaces) {
  link_twice();
  const auto lobby = lobby_on("anna");
  const std::vector<FoundLobby> all = found_from("ben");
  ASSERT_EQ(all.size(), 1U);
  for (const char* address : {"10.77.0.1", "10.78.0.1"})
    EXPECT_EQ(std::ranges::count(all[0].addresses, address), 1) << address;
  const std::vector<FoundLobby> far = found_from("carl");
  ASSERT_EQ(far.size(), 1U);
  EXPECT_EQ(far[0].addresses.front(), "10.77.0.1") << "carl has one interface";
  ip("ben", "link set eth0 down");
  const std::vector<FoundLobby> near = found_from("ben");
  ASSERT_EQ(near.size(), 1U);
  EXPECT_EQ(near[0].addresses.front(), "10.78.0.1");
}

TEST_F(LobbySearch, AreFoundOnAnInterfaceThatComesLater) {
  const auto lobby = lobby_on("anna");
  link_twice();
  EXPECT_EQ(found_from("ben", 10s, {"eth1"}).size(), 1U);
  for (const char* act : {"down", "up"}) {
    ip("anna", fmt::format("link set eth1 {}", act));
    std::this_thread::sleep_for(2500ms);
  }
  EXPECT_EQ(found_from("ben", 10s, {"eth1"}).size(), 1U);
  ip("anna", "address del 10.78.0.1/24 dev eth1");
  ip("anna", "address add 10.78.0.3/24 dev eth1");
  std::this_thread::sleep_for(2500ms);
  const std::vector<FoundLobby> all = found_from("ben", 10s, {"eth1"});
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].addresses.front(), "10.78.0.3");
}

TEST_F(LobbySearch, AreNotFoundWhereMulticastIsBlocked) {
  const auto lobby = lobby_on("anna");
  ip("desk", "link set to2 type bridge_slave mcast_flood off");  // as some Wi-Fi access points
  ip("desk", "link set to1 type bridge_slave mcast_flood off");
  EXPECT_TRUE(found_from("ben", 2s).empty());
  ip("desk", "link set to1 type bridge_slave mcast_flood on");
  EXPECT_EQ(found_from("ben").size(), 1U);
  ip("ben", "link set eth0 multicast off");
  EXPECT_TRUE(found_from("ben", 2s).empty());
}

/// A firewall of Ubuntu or Fedora may let multicast DNS in, and no answer to another port.
TEST_F(LobbySearch, AreFoundThroughAFirewallThatAdmitsOnlyPort5353) {
  const auto lobby = lobby_on("anna");
  for (const char* family : {"-4", "-6"}) {
    const auto rule = [&](const char* act) { ip("ben", fmt::format("{} rule {}", family, act)); };
    rule("add pref 1 iif eth0 ipproto udp dport 5354-65534 blackhole");
    rule("add pref 2 lookup local");
    rule("del pref 0");
  }
  std::this_thread::sleep_for(1500ms);  // the announcements go to port 5353
  EXPECT_TRUE(found_from("ben", 800ms).empty()) << "the first question comes from another port";
  const std::vector<FoundLobby> all = found_from("ben");
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].addresses.front(), "10.77.0.1");
}

}  // namespace
}  // namespace gv
