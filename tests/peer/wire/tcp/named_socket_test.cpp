#include "peer/wire/socket/named_socket.h"

#include <chrono>
#include <set>
#include <stdexcept>

#include <gtest/gtest.h>
#include <poll.h>

#include "tests/peer/wire/tcp/silent_address.h"

namespace gv {
namespace {

std::set<std::string> hosts_of(const std::vector<Descriptor>& sockets) {
  std::set<std::string> hosts;
  for (const Descriptor& socket : sockets) hosts.insert(address_of_socket(socket.get()).host());
  return hosts;
}

bool is_reached(const std::string& host, std::uint16_t port) {
  try {
    return connected_socket(host, port, 2000).open();
  } catch (const std::runtime_error&) {
    return false;
  }
}

TEST(NamedSockets, OfAllAddressesListenInBothFamiliesAtOnePort) {
  const std::vector<Descriptor> sockets = listening_sockets("::", 0);
  std::set<std::string> expected{"0.0.0.0"};
  if (has_ipv6()) expected.insert("::");
  EXPECT_EQ(hosts_of(sockets), expected);
  const std::uint16_t port = address_of_socket(sockets.front().get()).port();
  for (const Descriptor& each : sockets) EXPECT_EQ(address_of_socket(each.get()).port(), port);
  EXPECT_TRUE(is_reached("127.0.0.1", port));
  EXPECT_EQ(is_reached("::1", port), has_ipv6());
}

TEST(NamedSockets, OfOneFamilyAreOfThatAlone) {
  EXPECT_EQ(hosts_of(listening_sockets("0.0.0.0", 0)), std::set<std::string>{"0.0.0.0"});
  EXPECT_EQ(hosts_of(listening_sockets("127.0.0.1", 0)), std::set<std::string>{"127.0.0.1"});
}

/// No other machine can connect to these addresses.
TEST(NamedSockets, OfLocalhostAreBothLoopbackAddresses) {
  std::set<std::string> expected{"127.0.0.1"};
  if (has_ipv6()) expected.insert("::1");
  EXPECT_EQ(hosts_of(listening_sockets("localhost", 0)), expected);
}

TEST(NamedSockets, ThatCannotListenSayWhereAndWhy) {
  const auto said = [](const std::string& host, std::uint16_t port) {
    try {
      listening_sockets(host, port);
    } catch (const std::runtime_error& wrong) {
      return std::string(wrong.what());
    }
    return std::string("it listens");
  };
  EXPECT_EQ(said("fe80::1%no-such-if", 27000),
            "cannot listen on [fe80::1%no-such-if]:27000: this machine has no network interface "
            "`no-such-if` (`ip link` lists them)");
  EXPECT_EQ(said("192.0.2.1", 27000),
            "cannot listen on 192.0.2.1:27000: Cannot assign requested address");
  const std::vector<Descriptor> first = listening_sockets("127.0.0.1", 0);
  const std::uint16_t taken = address_of_socket(first[0].get()).port();
  EXPECT_NE(said("localhost", taken).find("Address already in use"), std::string::npos);
  EXPECT_NE(said("no.such.host.invalid", 1).find("no.such.host.invalid:1: "), std::string::npos);
}

TEST(NamedSockets, TakeTheFamiliesInTurns) {
  const auto turns = [](const std::vector<std::string>& all) {
    return take_turns(all, [](const std::string& a) { return a.find(':') != std::string::npos; });
  };
  using Texts = std::vector<std::string>;
  EXPECT_EQ(turns({"::1", "::2", "::3", "1.1.1.1"}), (Texts{"::1", "1.1.1.1", "::2", "::3"}));
  EXPECT_EQ(turns({"1.1.1.1", "2.2.2.2", "::1", "::2"}),
            (Texts{"1.1.1.1", "::1", "2.2.2.2", "::2"}));
  EXPECT_EQ(turns({"1.1.1.1"}), Texts{"1.1.1.1"});
  EXPECT_EQ(turns({}), Texts{});
}

/// `localhost` has two addresses, of which only one listens.
TEST(NamedSockets, TryTheNextAddressWhereOneIsClosed) {
  if (!has_ipv6()) GTEST_SKIP() << "this machine has one family alone";
  for (const char* one : {"127.0.0.1", "::1"}) {
    const std::vector<Descriptor> only = listening_sockets(one, 0);
    EXPECT_TRUE(is_reached("localhost", address_of_socket(only[0].get()).port())) << one;
  }
}

TEST(NamedSockets, SayWhatBecameOfEachAddress) {
  const std::uint16_t closed = closed_port();
  try {
    connected_socket("localhost", closed, 2000);
    ADD_FAILURE() << "nobody listens there";
  } catch (const std::runtime_error& wrong) {
    const std::string said = wrong.what();
    EXPECT_NE(said.find("127.0.0.1: Connection refused"), std::string::npos) << said;
    EXPECT_NE(said.find("::1: "), std::string::npos) << said;
  }
  const SilentAddress silent;
  try {
    connected_socket(silent.host(), silent.port(), 300);
    ADD_FAILURE() << "it answers nothing";
  } catch (const std::runtime_error& wrong) {
    EXPECT_STREQ(wrong.what(), "answers nothing");
  }
}

}  // namespace
}  // namespace gv
