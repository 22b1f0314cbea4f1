#include "peer/launch/agent/link_meter.h"

#include <fstream>

#include <gtest/gtest.h>

#include "peer/fleet/fleet.h"
#include "peer/launch/agent/link_bench.h"
#include "tests/scratch_folder.h"

namespace gv {
namespace {

TEST(LinkMeters, MeasureEachOther) {
  const LinkMeter one("127.0.0.1", 0, "0123456789abcdef");
  const LinkMeter two("127.0.0.1", 0, "fedcba9876543210");
  const auto speeds = speeds_of({{"127.0.0.1", one.port(), "0123456789abcdef"},
                                 {"127.0.0.1", two.port(), "fedcba9876543210"}},
                                0.2);
  ASSERT_EQ(speeds.size(), 2U);
  for (const LinkSpeed& speed : speeds) {
    EXPECT_EQ(speed.why, "");
    EXPECT_GT(speed.latency, 0);
    EXPECT_GT(speed.bandwidth, 1e6);
  }
}

TEST(LinkMeters, AnswerNoStranger) {
  const LinkMeter meter("127.0.0.1", 0, "0123456789abcdef");
  const auto speeds = speeds_of({{"127.0.0.1", meter.port(), "another nonce ..."}}, 0.2);
  EXPECT_FALSE(speeds[0].why.empty());
  EXPECT_EQ(speeds[0].bandwidth, 0);
}

TEST(LinkMeters, ThatAreNotThereAreNamed) {
  std::uint16_t closed = 0;
  {
    const LinkMeter gone("127.0.0.1", 0, "x");
    closed = gone.port();
  }
  const auto speeds =
      speeds_of({{"127.0.0.1", closed, "x"}, {"no.such.host.invalid", 1, "x"}}, 0.2);
  EXPECT_NE(speeds[0].why.find("refused"), std::string::npos) << speeds[0].why;
  EXPECT_FALSE(speeds[1].why.empty());
}

LinkTable three_hosts() {
  LinkTable table{.hosts = {"anna", "ben", "pi"},
                  .links = {},
                  .together = {118e6, 117e6, 6.1e6},
                  .findings = {}};
  const auto add = [&](std::size_t from, std::size_t to, double latency, double mbit) {
    table.links.push_back({from, to, {.latency = latency, .bandwidth = mbit * 1e6 / 8}});
  };
  add(0, 1, 0.2e-3, 941);
  add(1, 0, 0.22e-3, 940);
  add(0, 2, 2.9e-3, 48);
  add(2, 0, 2.9e-3, 47);
  add(1, 2, 3.4e-3, 37);
  table.links.push_back({2, 1, {.why = "it answers nothing"}});
  return table;
}

TEST(LinkTables, ShowLatenciesAboveTheDiagonalAndBandwidthsBelow) {
  EXPECT_EQ(screen_of(three_hosts()),
            "         anna      ben       pi\n"
            "anna        -  0.21 ms   2.9 ms\n"
            "ben  940 Mbit        -   3.4 ms\n"
            "pi    47 Mbit  37 Mbit        -");
  LinkTable shared = three_hosts();
  shared.links.back().speed = {.latency = 3.4e-3, .bandwidth = 37e6 / 8};
  EXPECT_TRUE(screen_of(shared).ends_with("\npi: its links share one card: 49 Mbit together"))
      << screen_of(shared);
}

/// A fleet file can use the table that is written.
TEST(LinkTables, AreReadBackByAFleetThatNamesThem) {
  const ScratchFolder folder;
  const std::string fleet = folder.path() + "/lan.yaml";
  LinkTable table = three_hosts();
  table.together[0] = 80e6;
  std::ofstream(folder.path() + "/lan.links.yaml") << yaml_of(table, "Measured today");
  std::ofstream(fleet) << "version: 1\nhosts: { anna: {}, ben: {}, pi: {} }\n"
                          "peers: [{ host: anna, count: 2 }, { host: ben }, { host: pi }]\n"
                          "data: { kind: quadratic, dimension: 4 }\nmodel: quadratic\n"
                          "stop: { rounds: 5 }\nlinks: { file: lan.links.yaml }\n";
  const NetworkSpec network = read_fleet(fleet, {}, nullptr).network;
  EXPECT_EQ(network.links.size(), 6U)
      << "each peer of anna with ben and with pi, ben with pi, and anna's two with each other";
  EXPECT_TRUE(network.link(0, 1).inside);
  EXPECT_FALSE(network.link(0, 2).inside);
  EXPECT_NEAR(network.nic_bandwidth(0), 40e6, 1e5) << "two peers share the card";
  EXPECT_EQ(network.nic_bandwidth(2), 0) << "its links do not share one";
  EXPECT_EQ(network.link(1, 2).latency, std::chrono::microseconds(210));
  EXPECT_NEAR(network.link(0, 3).bandwidth, 47e6 / 8, 1);
  EXPECT_NEAR(network.link(2, 3).bandwidth, 37e6 / 8, 1);
}

}  // namespace
}  // namespace gv
