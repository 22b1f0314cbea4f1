#include "peer/fleet/net_address.h"

#include <stdexcept>

#include <gtest/gtest.h>

// Addresses as users write them.

namespace gv {
namespace {

std::string objection_to(const std::string& text) {
  try {
    parse_host_port(text);
    return "";
  } catch (const std::invalid_argument& wrong) {
    return wrong.what();
  }
}

TEST(NetAddress, IsWrittenAsItIsRead) {
  for (const char* text :
       {"anna:27000", "anna.example.org:1", "10.0.0.7:65535", "[::1]:8080", "[::]:0",
        "[fd00::7]:27000", "[fe80::1%eth0]:27000", "[2001:db8::ff:1]:80"}) {
    const HostPort at = parse_host_port(text);
    EXPECT_EQ(host_port_text(at.host, at.port), text);
    EXPECT_EQ(at.host.find('['), std::string::npos) << "sockets take it without brackets";
  }
  EXPECT_EQ(without_brackets("[fe80::1%eth0]"), "fe80::1%eth0");
  EXPECT_EQ(without_brackets("anna"), "anna");
}

TEST(NetAddress, ThatIsBadIsNamedWithWhatToDo) {
  struct Row {
    const char* text;
    const char* words;
  };
  for (const Row& row :
       {Row{"", "expected HOST:PORT"},
        Row{"anna", "expected HOST:PORT"},
        Row{":27000", "expected HOST:PORT"},
        Row{"[::1]", "expected HOST:PORT"},
        Row{"anna:", "the port is a number from 0"},
        Row{"anna:65536", "the port is a number from 0"},
        Row{"[::1]:1x", "the port is a number from 0"},
        Row{"::1:8080", "stands in brackets before the port"},
        Row{"fe80::1%eth0:27000", "stands in brackets before the port"},
        Row{"[::1:8080", "its [ has no ]"},
        Row{"[anna]:1", "brackets are for IPv6 addresses alone"},
        Row{"[10.0.0.7]:1", "brackets are for IPv6 addresses alone"},
        Row{"[fe80::1]:1", "add the network interface that leads there, such as fe80::1%eth0"},
        Row{"[fe80::1%]:1", "ends with no name of a network interface"},
        Row{"[fe80::1%a-name-much-too-long]:1", "ends with no name of a network interface"},
        Row{"[fd00::1%eth0]:1", "which only link-local addresses (fe80::) need: write fd00::1"},
        Row{"[fd00:::1]:1", "is no IPv6 address"},
        Row{"[fd00::g]:1", "is no IPv6 address"},
        Row{"[::ffff:10.0.0.7]:1", "is an IPv4 address: write it as one"},
        Row{"[ff02::1]:1", "is the address of a group"},
        Row{"10.0.0.300:1", "is no IPv4 address"},
        Row{"10.0.7:1", "is no IPv4 address"},
        Row{"an na:1", "is no name of a machine"},
        Row{"carl@anna:1", "is no name of a machine"}})
    EXPECT_NE(objection_to(row.text).find(row.words), std::string::npos)
        << row.text << ": " << objection_to(row.text);
}

/// A peer from such an address may connect without keys.
TEST(NetAddress, OfThisMachineAloneIsKnown) {
  for (const char* host : {"localhost", "127.0.0.1", "127.8.9.1", "::1", "0:0:0:0:0:0:0:1"})
    EXPECT_TRUE(is_loopback(host)) << host;
  for (const char* host : {"", "anna", "127.example.org", "::", "0.0.0.0", "fe80::1%lo", "::2"})
    EXPECT_FALSE(is_loopback(host)) << host;
}

}  // namespace
}  // namespace gv
