#include "tests/lan/lab.h"

// A fleet on several machines grows as one on this machine does, and a plug-in is sent along.

namespace gv {
namespace {

class LanGrowth : public Lab {
 protected:
  std::string file(const std::string& name, const std::string& peers, const std::string& more) {
    std::ofstream(path(name)) << "version: 1\nseed: 7\n"
                              << peers
                              << "data: { kind: quadratic, dimension: 64, noise: 1, spread: 1 }\n"
                                 "model: quadratic\ntrain: { optimizer: { kind: sgd, lr: 0.05 } }\n"
                                 "topology: ring\nstop: { rounds: 40 }\n"
                                 "evaluate: { every: 10 rounds }\n"
                                 "checkpoint: { every: 10 rounds }\nfaults: { ledger: true }\n"
                              << more << "output: { dir: " << path(name + ".run") << " }\n";
    return path(name);
  }
  static std::string four_on(const std::string& hosts) {
    return "hosts: " + hosts +
           "\npeers: [{ host: anna, count: 2 }, { host: ben, count: 1 }, { host: carl, count: 1 "
           "}]\n";
  }
};

/// `--set peers=5` once moved all peers to the launcher's machine, since a number names no host.
/// Now the new peer goes to the host with the fewest, and the bits are those of one machine.
TEST_F(LanGrowth, OverSshHasTheBitsOfAFleetThatGrowsHere) {
  const std::string here = file("here.yaml", "peers: 4\n", "");
  const std::vector<std::string> more{"--set", "stop.rounds=80", "--json"};
  const auto go_on = [&](const std::string& run_folder, const std::string& set) {
    std::vector<std::string> words{"run", "--resume", run_folder, "--set", set};
    words.insert(words.end(), more.begin(), more.end());
    return words;
  };
  ASSERT_EQ(run({"run", here, "--json"}).code, 0);
  const Ended expected = run(go_on(here + ".run", "peers=5"));
  ASSERT_EQ(expected.code, 0) << expected.err;

  struct Case {
    std::string hosts, set, where;
  };
  const std::vector<Case> cases{
      {"{ anna: {}, ben: {}, carl: {} }", "peers=5", "host   ben: peers 2, 4;"},
      {"{ anna: {}, ben: {}, carl: {} }",
       "peers=[{ host: anna, count: 2 }, { host: ben }, { host: carl }, { host: carl }]",
       "host   carl: peers 3, 4;"}};
  for (std::size_t k = 0; k < cases.size(); ++k) {
    const Case& each = cases[k];
    SCOPED_TRACE(each.set);
    const std::string lan = file(fmt::format("lan{}.yaml", k), four_on(each.hosts), "");
    ASSERT_EQ(run_at_desk({"run", lan, "--json"}).code, 0);
    const Ended grown = run_at_desk(go_on(lan + ".run", each.set));
    ASSERT_EQ(grown.code, 0) << grown.err;
    EXPECT_NE(grown.err.find(each.where), std::string::npos) << grown.err;
    EXPECT_EQ(grown.summary().at("peers"), 5);
    EXPECT_EQ(grown.summary().at("params_hash"), expected.summary().at("params_hash"));
    const Ended books = run({"audit", lan + ".run-2", "--json"});
    EXPECT_EQ(books.code, 0) << books.output();
    EXPECT_EQ(books.summary().at("findings").size(), 0U);
    EXPECT_GE(books.summary().at("both"), 200);
  }
  EXPECT_TRUE(nothing_runs());
}

TEST_F(LanGrowth, APlugInGoesWithTheFleet) {
  fs::create_directory(path("desk"));
  fs::copy_file(GV_EXAMPLE_METHOD, path("desk/method.so"));
  const std::string more =
      "plugin: method.so\nalgorithm: { kind: gossip-lookahead, alpha: 0.5, k: 5 }\n";
  const std::string here = file("desk/here.yaml", "peers: 4\n", more);
  const std::string lan = file("desk/lan.yaml", four_on("{ anna: {}, ben: {}, carl: {} }"), more);
  hide_from_hosts(path("desk"));
  const Ended there = run_at_desk({"run", lan, "--json"});
  ASSERT_EQ(there.code, 0) << there.err;
  EXPECT_EQ(there.summary().at("params_hash"),
            run({"simulate", here, "--no-save", "--json"}).summary().at("params_hash"));
}

}  // namespace
}  // namespace gv
