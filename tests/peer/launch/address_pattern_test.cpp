#include "peer/launch/manual/address_pattern.h"

#include <gtest/gtest.h>

namespace gv {
namespace {

TEST(AddressPattern, GivesEachPeerItsHostOrItsPort) {
  const auto pods = parse_address_pattern("fleet-{id}.fleet:27000").addresses(12);
  EXPECT_EQ(pods[11].host, "fleet-11.fleet");
  EXPECT_EQ(pods[11].port, 27000);
  EXPECT_EQ(pods[11].peer, 11U);
  const auto here = parse_address_pattern("127.0.0.1:9000").addresses(3);
  EXPECT_EQ(here[2].host, "127.0.0.1");
  EXPECT_EQ(here[2].port, 9002);
  EXPECT_EQ(parse_address_pattern("{id}-{id}:1").addresses(2)[1].host, "1-1");
}

TEST(AddressPattern, TakesIPv6InBrackets) {
  const auto own = parse_address_pattern("[fd00::{id}]:27000");
  EXPECT_EQ(own.addresses(3)[2].host, "fd00::2");
  EXPECT_EQ(own.listen_host(), "::") << "of both families";
  const auto here = parse_address_pattern("[fe80::1%eth0]:9000");
  EXPECT_EQ(here.addresses(2)[1].host, "fe80::1%eth0");
  EXPECT_EQ(here.addresses(2)[1].port, 9001);
  EXPECT_EQ(here.listen_host(), "fe80::1%eth0");
  EXPECT_THROW(parse_address_pattern("10.0.0.{id}:1").addresses(300), std::invalid_argument);
}

TEST(AddressPattern, RefusesWhatIsNone) {
  for (const char* text : {"", "host", ":1", "host:", "host:0", "host:65536", "host:1x", "a\n:1",
                           "::1:9000", "[::1]", "[fe80::1]:9000", "10.0.0.300:1"})
    EXPECT_THROW(parse_address_pattern(text), std::invalid_argument) << text;
  EXPECT_THROW(parse_address_pattern("host:65535").addresses(2), std::invalid_argument);
}

}  // namespace
}  // namespace gv
