#include "tests/lan/lab.h"

// Blocked network paths, and machines that are lost and answer again.

namespace gv {
namespace {

class Mishaps : public Lab {
 protected:
  std::string in_host(const std::string& host, const std::string& command) const {
    return said_by(fmt::format("{} in {} {} {}", lab_, folder(), host, command));
  }
  /// Returns why no host here can filter incoming packets; "" if it can.
  std::string no_filters() const {
    if (std::system("command -v nft > /dev/null") != 0) return "nft is not installed (nftables)";
    const std::string said = in_host("ben", "nft add table inet probe");
    return said.empty() ? "" : "this kernel filters nothing: " + said;
  }
  /// Sets how a host treats connections to the port of its peers: "drop", or "reject with tcp
  /// reset".
  void answer_calls(const std::string& host, const std::string& verdict) const {
    for (const std::string& rule :
         {std::string("table inet gv"),
          std::string("chain inet gv in '{ type filter hook input priority 0; }'"),
          "rule inet gv in tcp dport 27000 " + verdict})
      EXPECT_EQ(in_host(host, "nft add " + rule), "");
  }
  std::string two_at_a_port(const std::string& rest) const {
    return fleet("lan.yaml",
                 "hosts: { anna: { port: 27000 }, carl: { port: 27000 } }\n"
                 "peers: [{ host: anna }, { host: carl }]\n",
                 rest);
  }
  std::string endless() const {
    return fleet("lan.yaml", three(),
                 "stop: { time: 1 h }\nevaluate: { every: 100 rounds }\n"
                 "launch: { restart: on-failure, leash: 5 s, grace: 2 s }\n"
                 "faults: { deadline: 1 s }\ncheckpoint: { every: 100 rounds }\n");
  }
  bool carl_has_checkpoints() const {
    return newest_checkpoint("carl", "004") > 0 && newest_checkpoint("carl", "005") > 0;
  }
  /// Expects that carl, which was lost, answers again, and that its peers resume from their
  /// checkpoints there and train.
  void expect_return(Program& launcher) const {
    EXPECT_TRUE(launcher.says("host carl answers again"));
    for (const char* peer : {"004", "005"}) {
      EXPECT_TRUE(launcher.says(
          fmt::format("[peer {}] resumes from the checkpoint of round", std::stoi(peer))));
      const std::uint64_t before = newest_checkpoint("carl", peer);
      EXPECT_TRUE(comes_true([&] { return newest_checkpoint("carl", peer) > before; })) << peer;
    }
    launcher.kill(SIGTERM);
    const Ended end = launcher.wait();
    EXPECT_EQ(end.code, 143) << end.err;
    EXPECT_EQ(end.summary().at("lost"), 0) << end.err;
    EXPECT_EQ(end.err.find("(pid 0)"), std::string::npos) << "it is not known yet";
    EXPECT_EQ(kept_runs("carl"), 0U) << "all of it is at home";
    EXPECT_TRUE(comes_true([&] { return nothing_runs(); }));
  }
};

/// A firewall that drops packets, and a port that is in use: both ends, and each direction.
TEST_F(Mishaps, APortThatAnswersNothingIsToldFromOneThatRefuses) {
  if (const std::string why = no_filters(); !why.empty()) GTEST_SKIP() << why;
  answer_calls("carl", "drop");
  answer_calls("anna", "reject with tcp reset");
  const std::string lan = two_at_a_port("stop: { rounds: 10 }\n");
  const Ended end = run_at_desk({"run", lan});
  EXPECT_EQ(end.code, 5);
  for (const char* words :
       {"hosts anna and carl cannot reach each other",
        "anna -> carl (port 27000):\n       10.77.0.3: answers nothing",
        "carl -> anna (port 27000):\n       10.77.0.1: Connection refused", "help:"})
    EXPECT_NE(end.err.find(words), std::string::npos) << words << "\n" << end.err;
  const Ended examined = run_at_desk({"doctor", lan});
  EXPECT_EQ(examined.code, 4);
  EXPECT_NE(examined.output().find("[!] hosts anna and carl cannot reach each other"),
            std::string::npos)
      << examined.output();
}

TEST_F(Mishaps, AWayThatIsClosedIsNamedAndTheOtherEndDials) {
  if (const std::string why = no_filters(); !why.empty()) GTEST_SKIP() << why;
  answer_calls("carl", "drop");
  const std::string lan = two_at_a_port("stop: { rounds: 10 }\n");
  const Ended examined = run_at_desk({"doctor", lan});
  EXPECT_EQ(examined.code, 0) << examined.output() << examined.err;
  for (const char* words :
       {"[x] carl -> anna at 10.77.0.1",
        "[-] anna -> carl (port 27000):\n       10.77.0.3: answers nothing", "so carl dials"})
    EXPECT_NE(examined.output().find(words), std::string::npos) << words << examined.output();
  const Ended end = run_at_desk({"run", lan});
  EXPECT_EQ(end.code, 0) << end.err;
}

/// Ports are free ones and folders have unique names: two runs on the same machines do not collide.
TEST_F(Mishaps, TwoRunsOnTheSameHostsDoNotMeet) {
  const std::string lan = fleet("lan.yaml", three(), "stop: { rounds: 200 }\n");
  Program first(at_desk({"run", lan, "--json"}), Program::as_it_stands);
  Program second(at_desk({"run", lan, "--json"}), Program::as_it_stands);
  const Ended one = first.wait();
  const Ended two = second.wait();
  EXPECT_EQ(one.code, 0) << one.err;
  EXPECT_EQ(two.code, 0) << two.err;
  EXPECT_EQ(one.summary().at("params_hash"), two.summary().at("params_hash"));
  EXPECT_TRUE(fs::exists(lan + ".run/summary.json"));
  EXPECT_TRUE(fs::exists(lan + ".run-2/summary.json"));
  EXPECT_TRUE(comes_true([&] { return nothing_runs(); }));
}

/// The leash ends its peers; when the cable is back they are started again.
TEST_F(Mishaps, AHostWhoseCableIsPluggedInAgainComesBack) {
  Program launcher(at_desk({"run", endless(), "--json"}), Program::as_it_stands);
  ASSERT_TRUE(comes_true([&] { return carl_has_checkpoints(); })) << launcher.errors();
  link_of_carl("down");
  ASSERT_TRUE(launcher.says("host carl is lost: no message from it for 5 s"));
  link_of_carl("up");
  expect_return(launcher);
}

/// Found by trying: the files of a host's peers were missing at home, with no message at the end
/// and exit code 0; and a host that was back by then kept the run's folder in its cache.
TEST_F(Mishaps, AHostThatDoesNotAnswerAtTheEndIsNamedAndAskedLater) {
  const std::string lan = fleet("lan.yaml", three(),
                                "stop: { rounds: 400 }\ncheckpoint: { every: 100 rounds }\n"
                                "network: { latency: 2 ms, emulate: true }\n"
                                "faults: { ledger: true }\nlaunch: { leash: 5 s, grace: 2 s }\n");
  Program launcher(at_desk({"run", lan, "--json"}), Program::as_it_stands);
  ASSERT_TRUE(comes_true([&] { return newest_checkpoint("carl", "005") > 0; }))
      << launcher.errors();
  // A large file, so that the cable is pulled in the middle of the transfer.
  const fs::path runs = folder() + "/cache_carl/grapevine/runs";
  const fs::path large = fs::directory_iterator(runs)->path() / "peers/005/large";
  std::ofstream(large).close();
  fs::resize_file(large, std::uintmax_t{1} << 29);
  const std::string own = lan + ".run/peers/005";
  ASSERT_TRUE(comes_true([&] { return fs::exists(own + "/large"); })) << launcher.errors();
  link_of_carl("down");
  const Ended end = launcher.wait();
  EXPECT_EQ(end.code, 6) << end.err;
  EXPECT_NE(end.err.find("peers of carl could not be fetched and are only there"),
            std::string::npos)
      << end.err;
  EXPECT_NE(end.err.find("grapevine collect " + lan + ".run"), std::string::npos) << end.err;
  EXPECT_EQ(end.summary().at("not_fetched"), nlohmann::json({"carl"}));
  EXPECT_EQ(end.summary().at("exit_code"), 6);
  EXPECT_FALSE(fs::exists(own + "/totals.json"));
  EXPECT_TRUE(fs::remove(large));
  EXPECT_EQ(run_at_desk({"collect", lan + ".run", "--trust"}).code, 6) << "it does not answer yet";
  link_of_carl("up");
  const Ended rest = run_at_desk({"collect", lan + ".run", "--trust"});
  EXPECT_EQ(rest.code, 0) << rest.err;
  EXPECT_TRUE(fs::exists(own + "/totals.json"));
  EXPECT_EQ(kept_runs("carl"), 0U);
  const Ended books = run({"audit", lan + ".run"});
  EXPECT_EQ(books.code, 0) << books.output();
}

TEST_F(Mishaps, AHostWhoseAgentIsKilledComesBack) {
  Program launcher(at_desk({"run", endless(), "--json"}), Program::as_it_stands);
  ASSERT_TRUE(comes_true([&] { return carl_has_checkpoints(); })) << launcher.errors();
  kill_agent("carl");
  ASSERT_TRUE(launcher.says("host carl is lost"));
  expect_return(launcher);
}

}  // namespace
}  // namespace gv
