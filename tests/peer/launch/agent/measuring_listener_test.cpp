#include <stdexcept>

#include <gtest/gtest.h>

#include "peer/launch/agent/facts/interfaces.h"
#include "peer/launch/agent/link_meter.h"

namespace gv {
namespace {

TEST(Doors, AreAnsweredByTheirOwnerAlone) {
  MeasuringListener own("127.0.0.1", 0, "0123456789abcdef");
  MeasuringListener other("127.0.0.1", 0, "fedcba9876543210");
  EXPECT_EQ(answers_of({{"127.0.0.1", own.port(), "0123456789abcdef"}}, &own),
            std::vector<std::string>{""});
  const std::vector<std::string> wrong =
      answers_of({{"127.0.0.1", other.port(), "0123456789abcdef"}}, &other);
  EXPECT_EQ(wrong, std::vector<std::string>{"another machine or program answers there"});
}

TEST(Doors, ThatNobodyOpensAreNamed) {
  std::uint16_t closed = 0;
  {
    const MeasuringListener gone("127.0.0.1", 0, "x");
    closed = gone.port();
  }
  const std::vector<std::string> why =
      answers_of({{"127.0.0.1", closed, "x"}, {"no.such.host.invalid", 1, "x"}}, nullptr);
  ASSERT_EQ(why.size(), 2U);
  EXPECT_NE(why[0].find("refused"), std::string::npos) << why[0];
  EXPECT_FALSE(why[1].empty());
}

TEST(Doors, OfATakenPortAreRefusedWithItsNumber) {
  const MeasuringListener first("127.0.0.1", 0, "x");
  try {
    const MeasuringListener second("127.0.0.1", first.port(), "y");
    FAIL() << "two listen at one port";
  } catch (const std::runtime_error& taken) {
    EXPECT_NE(std::string(taken.what()).find(std::to_string(first.port())), std::string::npos);
  }
}

TEST(Interfaces, OfContainersLeadNowhere) {
  for (const char* name : {"lo", "docker0", "br-12ab", "veth9", "virbr0", "lxcbr0", "cni0"})
    EXPECT_TRUE(leads_nowhere(name)) << name;
  for (const char* name : {"eth0", "enp3s0", "wlan0", "eno1", "bond0", "br0", "loop1"})
    EXPECT_FALSE(leads_nowhere(name)) << name;
  for (const InterfaceAddress& address : interface_addresses()) {
    EXPECT_FALSE(address.address.starts_with("127."));
    EXPECT_FALSE(address.address.starts_with("169.254."));
  }
}

TEST(Doors, AreFoundAtAnyAddressOfAName) {
  MeasuringListener own("::", 0, "x");
  EXPECT_EQ(answers_of({{"localhost", own.port(), "x"}, {"127.0.0.1", own.port(), "x"}}, &own),
            (std::vector<std::string>{"", ""}));
  MeasuringListener one("127.0.0.1", 0, "x");
  EXPECT_EQ(answers_of({{"localhost", one.port(), "x"}}, &one), std::vector<std::string>{""});
}

TEST(Interfaces, AreCalledAsTheCallerSeesThem) {
  const std::vector<InterfaceAddress> own{{"eth0", "10.0.0.1", 24},
                                          {"docker9", "172.17.0.1", 16},
                                          {"eth0", "fe80::1%eth0", 64},
                                          {"eth1", "fe80::9%eth1", 64}};
  EXPECT_EQ(
      as_called_by(own, {"ben", "172.17.0.1", "192.168.0.2", "10.0.0.2", "fe80::2%enp3s0"}),
      (std::vector<std::string>{"10.0.0.2", "ben", "192.168.0.2", "fe80::2%eth0", "fe80::2%eth1"}));
  EXPECT_TRUE(as_called_by(own, {"fe80::1%eth7"}) == std::vector<std::string>{"fe80::1%eth1"})
      << "two cables may join machines with one number each";
}

TEST(Interfaces, KnowWhoIsInTheirNetwork) {
  EXPECT_TRUE(same_network("10.77.0.1", "10.77.0.200", 24));
  EXPECT_FALSE(same_network("10.77.0.1", "10.77.1.1", 24));
  EXPECT_TRUE(same_network("10.77.0.1", "10.77.1.1", 23));
  EXPECT_TRUE(same_network("fd00::1", "fd00::2", 64));
  EXPECT_FALSE(same_network("fd00::1", "10.0.0.1", 8));
  EXPECT_FALSE(same_network("a name", "10.0.0.1", 8));
  EXPECT_FALSE(same_network("10.0.0.1", "10.0.0.1", 33));
}

}  // namespace
}  // namespace gv
