#include <gtest/gtest.h>

#include "peer/launch/manual/peer_process.h"
#include "tests/peer/fleet/test_fleet.h"

namespace gv {
namespace {

/// First port that Linux uses for outgoing connections by default.
constexpr std::uint16_t first_ephemeral_port = 32768;

Fleet fleet_on(std::vector<HostSpec> hosts) {
  Fleet fleet = quadratic_fleet(4, "ring", "d-psgd", "lian");
  for (PeerId i = 0; i < 4; ++i) fleet.peers[i].host = hosts[i * hosts.size() / 4].name;
  fleet.hosts = std::move(hosts);
  return fleet;
}

TEST(ManualAddresses, LieBelowThePortsOfOutgoingConnections) {
  const auto list = manual_addresses(fleet_on({{.name = "localhost"}}));
  ASSERT_EQ(list.size(), 4U);
  for (PeerId i = 0; i < 4; ++i) {
    EXPECT_EQ(list[i].port, list[0].port + i);
    EXPECT_GE(list[i].port, 1024) << "needs no privileges";
    EXPECT_LT(list[i].port + 1000, first_ephemeral_port);
  }
}

TEST(ManualAddresses, BeginWhereTheFileSays) {
  const auto list = manual_addresses(
      fleet_on({{.name = "anna", .address = "10.0.0.1", .port = 9000}, {.name = "ben"}}));
  EXPECT_EQ(list[0].port, 9000);
  EXPECT_EQ(list[1].port, 9001);
  EXPECT_EQ(list[2].host, "ben") << "a name is an address";
  EXPECT_EQ(list[3].port, list[2].port + 1);
}

}  // namespace
}  // namespace gv
