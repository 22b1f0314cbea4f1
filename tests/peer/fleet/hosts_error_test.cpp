#include <fstream>

#include <gtest/gtest.h>

#include "tests/peer/fleet/first_problem.h"
#include "tests/scratch_folder.h"

// Mistakes in the hosts of a fleet file.

namespace gv {
namespace {

class Hosts : public testing::Test {
 protected:
  std::string problem_of(const std::string& hosts, const std::string& peers) const {
    const std::string file = folder_.path() + "/lan.yaml";
    std::ofstream(file) << "version: 1\nhosts:\n"
                        << hosts << "peers: [" << peers
                        << "]\ndata: quadratic\nmodel: quadratic\ntopology: ring\n"
                           "stop: { rounds: 10 }\n";
    std::string text = first_problem([&] { read_fleet(file, {}, nullptr); });
    if (text.starts_with(folder_.path() + "/")) text.erase(0, folder_.path().size() + 1);
    return text;
  }

  ScratchFolder folder_;
};

constexpr const char* both = "{ host: anna }, { host: ben }";

TEST_F(Hosts, ThatOnlyTheyThemselvesCanReachAreRefused) {
  for (const char* how : {"", "ssh: ben, "}) {
    const std::string said =
        problem_of(std::string("  anna: {}\n  ben: { ") + how + "address: 127.0.1.1 }\n", both);
    EXPECT_TRUE(said.starts_with("lan.yaml:4:")) << said;
    EXPECT_NE(said.find("ben's address is 127.0.1.1, which only ben itself can reach"),
              std::string::npos)
        << said;
    EXPECT_NE(said.find("does /etc/hosts map its name to that?"), std::string::npos) << said;
  }
  EXPECT_NE(problem_of("  anna: { address: 10.0.0.1 }\n  ben: { address: localhost }\n", both), "");
}

/// Hosts of one machine may have several names, or be unused.
TEST_F(Hosts, OfOneMachineMayBeAnywhereOnIt) {
  EXPECT_EQ(problem_of("  anna: { address: 127.0.0.1 }\n  ben: { address: 127.0.1.1 }\n", both),
            "");
  EXPECT_EQ(problem_of("  localhost: {}\n  ben: {}\n", "{ host: localhost }, { host: ben }"), "");
  EXPECT_EQ(problem_of("  anna: { address: 127.0.0.1 }\n  ben: {}\n", "{ host: anna, count: 2 }"),
            "");
}

TEST_F(Hosts, HaveAddressesOfBothFamilies) {
  for (const char* address : {"fd00::7", "2001:db8::1", "fe80::1%eth0", "'[fd00::7]'", "[fd00::7]",
                              "[fe80::1%eth0]", "192.168.1.7", "carl.example.org"})
    EXPECT_EQ(problem_of(std::string("  anna: { address: ") + address + " }\n  ben: {}\n", both),
              "")
        << address;
}

TEST_F(Hosts, WithAddressesThatNoSocketTakesAreRefused) {
  struct Row {
    const char* address;
    const char* words;
  };
  for (const Row& row :
       {Row{"fe80::1", "fe80::1%eth0"}, Row{"10.0.0.300", "is no IPv4 address"},
        Row{"10.0.0.7:27000", "is no IPv6 address"}, Row{"'[fd00::7]:27000'", "the key `port`"},
        Row{"[fd00::7, fd00::8]", "expected a word"}}) {
    const std::string said =
        problem_of(std::string("  anna: { address: ") + row.address + " }\n  ben: {}\n", both);
    EXPECT_TRUE(said.starts_with("lan.yaml:3:")) << row.address << ": " << said;
    EXPECT_NE(said.find(row.words), std::string::npos) << row.address << ": " << said;
  }
}

TEST_F(Hosts, ThatTheFileDoesNotKnowAreNamedWithTheNearest) {
  const std::string said = problem_of("  anna: {}\n  ben: {}\n", "{ host: anna }, { host: bne }");
  EXPECT_EQ(said, "lan.yaml:5:33 host `bne` is not listed under `hosts` did you mean `ben`?");
  EXPECT_NE(problem_of("  anna: {}\n", "{ host: quite-another }").find("there are localhost, anna"),
            std::string::npos);
}

/// If links have a file of their own, the error gives the place in that file.
TEST_F(Hosts, LinksThatCannotBeAreRefusedInTheFileThatHasThem) {
  const std::string peers = "{ host: anna }, { host: ben }";
  const std::string hosts = "  anna: {}\n  ben: {}\nlinks: { file: lan.links.yaml }\n";
  const auto said_of = [&](const std::string& link) {
    std::ofstream(folder_.path() + "/lan.links.yaml") << "version: 1\nlinks:\n  - " << link << "\n";
    return problem_of(hosts, peers);
  };
  EXPECT_EQ(said_of("{ between: [anna, ben], bandwidth: 100 Mbit }"), "");
  struct Row {
    const char* link;
    const char* place;
    const char* words;
  };
  for (const Row& row :
       {Row{"{ between: [anna, carl] }", "lan.links.yaml:3:23:", "no peer is on a host `carl`"},
        Row{"{ between: [0, 7] }", "lan.links.yaml:3:20:", "out of range"},
        Row{"{ between: [0, 1], bandwidth: 0 Mbit }", ":3:35:", "bandwidth must be above 0"},
        Row{"{ between: [0, 1], bandwidth: -5 Mbit }", ":3:35:", "is not a bandwidth"},
        Row{"{ between: [0, 1], latency: -1 ms }", ":3:33:", "is not a duration"}}) {
    const std::string said = said_of(row.link);
    EXPECT_TRUE(said.starts_with("lan.yaml:5:16 ")) << said;
    EXPECT_NE(said.find(row.place), std::string::npos) << row.link << "\n" << said;
    EXPECT_NE(said.find(row.words), std::string::npos) << row.link << "\n" << said;
  }
}

}  // namespace
}  // namespace gv
