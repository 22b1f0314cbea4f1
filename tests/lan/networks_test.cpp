#include <memory>

#include "tests/lan/lab.h"

// Fleets on networks of one address family and of both, in which names have dead addresses too.

namespace gv {
namespace {

struct Network {
  const char* title;
  const char* net;      ///< option of tests/lan/lab
  bool by_name;         ///< `address` is a name whose first addresses are dead
  const char* address;  ///< numeric address of the third host; a name in fleets by name
};

constexpr Network networks[] = {
    {"IPv4Alone", "4", false, "10.77.0.3"},   {"IPv6Alone", "6", false, "fd77::3"},
    {"Both", "both", false, "10.77.0.3"},     {"LinkLocalAlone", "local", false, "fe80::"},
    {"NamesOfIPv4", "4", true, "carl.lab"},   {"NamesOfIPv6", "6", true, "carl.lab"},
    {"NamesOfBoth", "both", true, "carl.lab"}};

std::string title_of(const testing::TestParamInfo<Network>& network) {
  return network.param.title;
}

class Networks : public Lab, public testing::WithParamInterface<Network> {
 protected:
  std::string hosts() const override {
    return fmt::format("--net {} anna ben carl", GetParam().net);
  }
  static std::string six() {
    std::string text = "hosts:\n";
    for (const char* host : {"anna", "ben", "carl"})
      text += GetParam().by_name ? fmt::format("  {0}: {{ address: {0}.lab, port: 27000 }}\n", host)
                                 : fmt::format("  {}: {{}}\n", host);
    return text +
           "peers: [{ host: anna, count: 2 }, { host: ben, count: 2 }, { host: carl, count: 2 }]\n";
  }
  std::string lan() const {
    return fleet("lan.yaml", six(), "stop: { rounds: 100 }\ncheckpoint: { every: 20 rounds }\n");
  }
};

TEST_P(Networks, TrainToTheBitsOfOneMachineAndResume) {
  const std::string file = lan();
  const auto simulated = [&](const char* rounds) {
    return run({"simulate", file, "--no-save", "--json", "--set", rounds}).summary();
  };
  const Ended first = run_at_desk({"run", file, "--json", "--set", "stop.rounds=60"});
  ASSERT_EQ(first.code, 0) << first.err;
  EXPECT_EQ(first.summary().at("params_hash"), simulated("stop.rounds=60").at("params_hash"));
  const Ended resumed =
      run_at_desk({"run", "--resume", file + ".run", "--json", "--set", "stop.rounds=100"});
  ASSERT_EQ(resumed.code, 0) << resumed.err;
  EXPECT_EQ(resumed.summary().at("params_hash"), simulated("stop.rounds=100").at("params_hash"));
  EXPECT_TRUE(nothing_runs());
}

TEST_P(Networks, AreExaminedByTheDoctor) {
  const Ended end = run_at_desk({"doctor", lan()});
  EXPECT_EQ(end.code, 0) << end.output();
  for (const char* pair : {"anna -> ben", "ben -> anna", "anna -> carl", "carl -> ben"})
    EXPECT_NE(end.output().find(fmt::format("[x] {} at ", pair)), std::string::npos)
        << end.output();
  EXPECT_NE(end.output().find(fmt::format("[x] anna -> carl at {}", GetParam().address)),
            std::string::npos)
      << end.output();
}

TEST_P(Networks, HaveTheirLinksMeasured) {
  const std::string file = lan();
  const Ended end = run_at_desk({"bench", "links", file, "--seconds", "0.2", "--json"});
  ASSERT_EQ(end.code, 0) << end.err;
  const auto links = end.summary().at("links");
  ASSERT_EQ(links.size(), 6U) << links;
  for (const auto& link : links) EXPECT_GT(link.at("bytes_per_second").get<double>(), 1e5) << link;
}

INSTANTIATE_TEST_SUITE_P(Lan, Networks, testing::ValuesIn(networks), title_of);

/// Peers that are started by hand, at names whose first addresses are dead.
class ByHand : public Networks {
 protected:
  std::vector<std::string> peer(const std::string& host, int id, const std::string& at) const {
    return {lab_,
            "in",
            folder(),
            host,
            grapevine_program(),
            "peer",
            path("hand.yaml"),
            "--id",
            std::to_string(id),
            "--at",
            at,
            "--wait",
            "20",
            "--set",
            "output.dir=" + path("hand.") + std::to_string(id)};
  }
  using Peers = std::vector<std::unique_ptr<Program>>;
  Peers started(const std::string& at, const std::string& stop) const {
    std::ofstream(path("hand.yaml"))
        << "version: 1\nname: hand\nseed: 1\npeers: 3\nsecurity: plaintext\n"
           "data: { kind: quadratic, dimension: 64 }\nmodel: quadratic\n"
           "algorithm: all-reduce\nstop: { "
        << stop << " }\n";
    Peers peers;
    int id = 0;
    for (const char* host : {"anna", "ben", "carl"})
      peers.push_back(std::make_unique<Program>(peer(host, id++, at), Program::as_it_stands));
    return peers;
  }
  static void expect_ends(const Peers& peers) {
    for (const auto& each : peers) {
      const Ended end = each->wait();
      EXPECT_EQ(end.code, 0) << end.err;
      EXPECT_EQ(end.err.find("is away"), std::string::npos) << end.err;
      EXPECT_EQ(end.err.find("has died"), std::string::npos) << end.err;
    }
  }
};

TEST_P(ByHand, FindEachOtherAtOneOfTheAddresses) {
  expect_ends(started("p{id}.lab:27000", "rounds: 300"));
}

/// Found by trying: after a reset the accepting end dialled the first address alone, which refuses,
/// and took a living peer for dead.
TEST_P(ByHand, OutliveTheirConnections) {
  const Peers peers = started("p{id}.lab:27000", "time: 8 s");
  for (const auto& each : peers) ASSERT_TRUE(each->says("connected with all neighbours"));
  const std::string reset =
      fmt::format("{} in {} ben ss -K '( dport = :27000 or sport = :27000 )'", lab_, folder());
  for (int k = 0; k < 3; ++k) {
    said_by(reset);
    if (k == 0 &&
        !comes_true([&] { return peers[1]->errors().find(" lost: ") != std::string::npos; }))
      GTEST_SKIP() << "this kernel ends no connections for `ss -K`";
    std::this_thread::sleep_for(std::chrono::seconds(1));
  }
  expect_ends(peers);
}

INSTANTIATE_TEST_SUITE_P(Lan,
                         ByHand,
                         testing::Values(networks[4], networks[5], networks[6]),
                         title_of);

class Scoped : public ByHand {};

/// The hosts have only the addresses that the kernel assigns.
TEST_P(Scoped, AddressesNameTheirInterface) {
  expect_ends(started("[fe80::77:{id}%eth0]:27000", "rounds: 300"));
}

INSTANTIATE_TEST_SUITE_P(Lan, Scoped, testing::Values(networks[3]), title_of);

}  // namespace
}  // namespace gv
