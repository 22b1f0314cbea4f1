#include "peer/show/live/live_address.h"

#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/peer/wire/tcp/silent_address.h"

namespace gv {
namespace {

TEST(LiveAddress, IsThisMachine) {
  EXPECT_EQ(parse_live_address("127.0.0.1:8080").text(), "127.0.0.1:8080");
  EXPECT_EQ(parse_live_address("localhost:0").text(), "127.0.0.1:0");
  EXPECT_EQ(parse_live_address("[::1]:65535").text(), "[::1]:65535");
}

TEST(LiveAddress, NothingElseIs) {
  for (const char* text : {"", "8080", ":8080", "0.0.0.0:8080", "127.0.0.2:8080", "[::]:8080",
                           "192.168.1.10:8080", "example.org:8080", "127.0.0.1:", "127.0.0.1:65536",
                           "127.0.0.1:-1", "127.0.0.1:80 ", "127.0.0.1:0x50"})
    EXPECT_THROW(parse_live_address(text), std::invalid_argument) << text;
  try {
    parse_live_address("0.0.0.0:8080");
  } catch (const std::invalid_argument& e) {
    EXPECT_NE(std::string(e.what()).find("ssh -L"), std::string::npos);
  }
}

TEST(LiveAddress, APortIsTakenOnce) {
  LiveAddress address;
  const std::vector<http::Listener> first = listen_at(address, "");
  EXPECT_NE(address.port, 0);
  EXPECT_THROW(listen_at(address, ""), std::runtime_error);
}

/// `localhost` means both families, because browsers may use either.
TEST(LiveAddress, OfLocalhostIsReachedByBothFamilies) {
  LiveAddress address = parse_live_address("localhost:0");
  const std::vector<http::Listener> both = listen_at(address, "");
  EXPECT_EQ(both.size(), has_ipv6() ? 2U : 1U);
  for (const char* host : {"127.0.0.1", "::1"})
    EXPECT_EQ(connect_to({.host = host, .port = address.port}).open(),
              has_ipv6() || std::string(host) != "::1");
  const std::string port = std::to_string(address.port);
  EXPECT_EQ(both[0].access.hosts,
            (std::vector<std::string>{"127.0.0.1:" + port, "localhost:" + port}));
}

TEST(LiveAddress, OfIPv6NeedsItsBrackets) {
  try {
    parse_live_address("::1:8080");
    FAIL() << "which part is the port?";
  } catch (const std::invalid_argument& e) {
    EXPECT_NE(std::string(e.what()).find("in brackets before the port"), std::string::npos);
  }
}

}  // namespace
}  // namespace gv
