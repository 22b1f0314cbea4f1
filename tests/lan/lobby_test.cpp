#include "tests/lan/lobbies.h"

// A lobby at the desk and machines that join it by its code, without ssh.

namespace gv {
namespace {

struct LobbyNetwork {
  const char* title;
  const char* net;  ///< option of tests/lan/lab
};

class OnNetwork : public Lobbies, public testing::WithParamInterface<LobbyNetwork> {
 protected:
  std::string hosts() const override {
    return fmt::format("--net {} anna ben carl", GetParam().net);
  }
};

TEST_P(OnNetwork, TrainsToTheBitsOfOneMachine) {
  const std::string file = lobby_fleet(4, "stop: { rounds: 100 }\n");
  Program lobby = opened({file, "--no-measure", "--json"});
  const std::vector<Joined> machines = join_all(code_of(lobby));
  const Ended end = lobby.wait();
  ASSERT_EQ(end.code, 0) << end.err;
  EXPECT_EQ(end.summary().at("params_hash"), simulated(file));
  EXPECT_EQ(end.err.find("has left"), std::string::npos) << end.err;
  expect_closed(machines);
  EXPECT_TRUE(comes_true([&] { return nothing_runs(); }));
}

INSTANTIATE_TEST_SUITE_P(Lan,
                         OnNetwork,
                         testing::Values(LobbyNetwork{"IPv4Alone", "4"},
                                         LobbyNetwork{"IPv6Alone", "6"},
                                         LobbyNetwork{"LinkLocalAlone", "local"},
                                         LobbyNetwork{"Both", "both"}),
                         [](const auto& network) { return network.param.title; });

TEST_F(Lobbies, MeasureBeforeTheStartAndSayWhatIsToBeExpected) {
  const std::string file = lobby_fleet(2, "stop: { rounds: 50 }\n");
  Program lobby = opened({file, "--json"});
  const Joined anna = join("anna", code_of(lobby));
  const Ended end = lobby.wait();
  ASSERT_EQ(end.code, 0) << end.err;
  EXPECT_NE(end.err.find("Predicted: 2 machines train"), std::string::npos) << end.err;
  EXPECT_EQ(end.err.find("starts in"), std::string::npos) << "nobody reads it here: " << end.err;
  EXPECT_EQ(end.err.find(" 0 GFLOP/s"), std::string::npos)
      << "the first product takes longer than all of the measurement: " << end.err;
}

/// Found by a new user: the fleet had started before the paragraph could be read.
TEST_F(Lobbies, LetTheUserOfATerminalReadBeforeTheStart) {
  const std::string file = lobby_fleet(2, "stop: { rounds: 50 }\n");
  const std::string command = fmt::format("{}", fmt::join(words_of_lobby({file}), " "));
  Program lobby({"sh", "-c", fmt::format("script -qec '{}' /dev/null >&2", command)},
                Program::as_it_stands);
  const Joined anna = join("anna", code_of(lobby));
  ASSERT_TRUE(lobby.says("starts in 10 s; Enter starts at once, Ctrl-C ends the lobby"));
  EXPECT_NE(lobby.errors().find("Predicted: 2 machines train"), std::string::npos);
  lobby.tell("\x03");
  EXPECT_EQ(lobby.wait().code, 130) << lobby.errors();
  EXPECT_FALSE(fs::exists(file + ".run")) << "it had not started";
  EXPECT_EQ(anna->wait().code, 0);
}

/// Found by a new user: the lobby's own name was given to another machine, and the screens of
/// those that had joined said nothing of the run.
TEST_F(Lobbies, HaveMachinesOfOneNameAndTellThemOfTheRun) {
  Program lobby = opened({lobby_fleet(3, "stop: { rounds: 50 }\n"), "--no-measure", "--json"});
  const std::string code = code_of(lobby);
  std::vector<Joined> machines;
  for (const char* host : {"anna", "ben"})
    machines.push_back(std::make_unique<Program>(
        std::vector<std::string>{lab_, "in", folder(), host, grapevine_program(), "join", code,
                                 "--yes", "--folder", path(host)},
        Program::as_it_stands));
  const Ended end = lobby.wait();
  ASSERT_EQ(end.code, 0) << end.err;
  const std::size_t at = end.err.find(" (here)");
  ASSERT_NE(at, std::string::npos) << end.err;
  const std::size_t begin = end.err.rfind('\n', at) + 1;
  const std::string own = end.err.substr(begin, at - begin);
  EXPECT_NE(end.err.find("\n" + own + "-2 joined from"), std::string::npos) << end.err;
  EXPECT_NE(end.err.find("\n" + own + "-3 joined from"), std::string::npos) << end.err;
  for (const Joined& each : machines) {
    const std::string said = each->wait().err;
    EXPECT_NE(said.find("the run has ended with exit code 0: round 50: loss "), std::string::npos)
        << said;
    EXPECT_NE(said.find(path("fleet.yaml.run") + " on "), std::string::npos) << said;
  }
}

/// Found by trying: the resumed lobby was ready before the launcher of the dead one had saved and
/// ended, and gave the run up as one that still runs.
TEST_F(Lobbies, AreResumedToTheBitAfterTheirDeath) {
  const std::string file =
      lobby_fleet(4, std::string("stop: { rounds: 400 }\nlaunch: { leash: 5 s, grace: 2 s }\n") +
                         with_checkpoints);
  Program dead = opened({file, "--no-measure"});
  const std::vector<Joined> machines = join_all(code_of(dead));
  ASSERT_TRUE(comes_true([&] { return has_round(file, 60); })) << dead.errors();
  dead.kill(SIGKILL);
  for (const Joined& each : machines) EXPECT_TRUE(each->says("the lobby is lost"));
  Program lobby = opened({"--resume", "--json"});
  EXPECT_EQ(code_of(lobby), code_of(dead));
  const Ended end = lobby.wait();
  ASSERT_EQ(end.code, 0) << end.err;
  EXPECT_EQ(end.summary().at("params_hash"), simulated(file)) << end.err;
  expect_closed(machines);
  EXPECT_TRUE(comes_true([&] { return nothing_runs(); }));
}

TEST_F(Lobbies, TakeAKilledMachineBackWithItsPeers) {
  const std::string file = lobby_fleet(
      4, std::string("stop: { time: 1 h }\nlaunch: { leash: 5 s, grace: 2 s, restart: on-failure "
                     "}\n") +
             with_checkpoints);
  Program lobby = opened({file, "--no-measure"});
  const std::string code = code_of(lobby);
  const std::vector<Joined> machines = join_all(code);
  ASSERT_TRUE(comes_true([&] { return has_round(file, 40); })) << lobby.errors();
  machines[2]->kill(SIGKILL);
  ASSERT_TRUE(lobby.says("carl has left"));
  EXPECT_TRUE(comes_true([&] { return processes("carl") == 0; })) << "nothing outlives its join";
  const Joined carl = join("carl", code);
  ASSERT_TRUE(lobby.says("carl is back"));
  EXPECT_TRUE(lobby.says("host carl answers again"));
  EXPECT_TRUE(lobby.says("[peer 3] resumes from the checkpoint"));
  lobby.kill(SIGINT);
  const Ended end = lobby.wait();
  EXPECT_EQ(end.code, 130) << end.err;
  EXPECT_TRUE(comes_true([&] { return nothing_runs(); }));
}

TEST_F(Lobbies, LetAGuesserWait) {
  Program lobby = opened({});
  std::string code = code_of(lobby);
  const std::string right = code;
  code.back() = code.back() == '9' ? '0' : static_cast<char>(code.back() + 1);
  for (int k = 0; k < 3; ++k) {
    const Ended end = join("anna", code)->wait();
    EXPECT_EQ(end.code, 1);
    EXPECT_NE(end.err.find("error: wrong code"), std::string::npos) << end.err;
  }
  const Ended waits = join("anna", right)->wait();
  EXPECT_EQ(waits.code, 1);
  EXPECT_NE(waits.err.find("too many wrong codes; the next try is in"), std::string::npos)
      << waits.err;
  const Joined ben = join("ben", right);
  EXPECT_TRUE(ben->says("joined the lobby")) << "the wait is one machine's";
  EXPECT_TRUE(lobby.says("refused 10.77.0.1: wrong code"));
  lobby.kill(SIGINT);
  EXPECT_EQ(lobby.wait().code, 130);
  EXPECT_EQ(ben->wait().code, 0);
}

/// Ctrl-C was once heeded after the search for the lobby alone, which takes eight seconds.
TEST_F(Lobbies, AreSearchedForUntilTheUserStops) {
  const Joined anna = join("anna", "12-345-678");
  ASSERT_TRUE(anna->says("looking for lobby 12"));
  std::this_thread::sleep_for(std::chrono::seconds(1));
  anna->kill(SIGINT);
  const Ended stopped = anna->wait();
  EXPECT_EQ(stopped.code, 130);
  EXPECT_EQ(stopped.err.find("no lobby with the number"), std::string::npos) << stopped.err;
  const Ended alone = join("ben", "12-345-678")->wait();
  EXPECT_EQ(alone.code, 1);
  for (const char* words : {"no lobby with the number 12 answers", "--at ADDRESS:PORT"})
    EXPECT_NE(alone.err.find(words), std::string::npos) << words << "\n" << alone.err;
}

/// The lobby is on a fourth host, because the desk receives all packets of its bridge.
class WithoutMulticast : public Lobbies {
 protected:
  std::string hosts() const override { return "--net 4 anna ben carl dora"; }
  std::string lobby_host() const override { return "dora"; }
};

TEST_F(WithoutMulticast, MachinesJoinByTheAddress) {
  std::string said;
  for (int port = 1; port <= 4; ++port)
    said +=
        said_by(fmt::format("bridge -n {}-desk link set dev to{} mcast_flood off", prefix(), port));
  if (!said.empty()) GTEST_SKIP() << "this bridge cannot block multicast: " << said;
  const std::string file = lobby_fleet(4, "stop: { rounds: 50 }\n");
  Program lobby = opened({file, "--no-measure", "--json"});
  const std::string code = code_of(lobby);
  const Ended lost = join("anna", code)->wait();
  EXPECT_EQ(lost.code, 1) << lost.err;
  const std::vector<Joined> machines = join_all(code, {"--at", word_after(lobby, "--at ")});
  const Ended end = lobby.wait();
  ASSERT_EQ(end.code, 0) << end.err;
  EXPECT_EQ(end.summary().at("params_hash"), simulated(file));
  expect_closed(machines);
}

/// Each machine has a part of a table, which stays there.
class Parts : public Lobbies {
 protected:
  static void write_part(const std::string& file, int from, const char* columns = "a,b,kind") {
    std::ofstream out(file);
    out << columns << '\n';
    for (int k = from; k < from + 40; ++k)
      out << k % 7 - 3 << ',' << k % 5 - 2 << ',' << (k % 7 + k % 5 > 4 ? "p" : "q") << '\n';
  }
  std::string part_of(const char* host) const { return path(fmt::format("{}.csv", host)); }
  std::string parts_fleet() const {
    std::ofstream(path("parts.yaml"))
        << "version: 1\nseed: 7\npeers: 3\n"
        << "data: { kind: table, file: \"part-{id}.csv\", test: test.csv, target: kind, "
           "standardize: false }\nmodel: softmax\n"
        << "train: { optimizer: { kind: sgd, lr: 0.05 } }\ntopology: ring\n"
        << "stop: { rounds: 50 }\noutput: { dir: " << path("parts.run") << " }\n";
    return path("parts.yaml");
  }
  void SetUp() override {
    Lobbies::SetUp();
    int from = 0;
    for (const char* host : {"anna", "ben", "carl"}) write_part(part_of(host), from += 11);
    write_part(path("test.csv"), 100);
  }
};

/// Found by trying: the launcher wanted all parts itself, and no machine had the test set.
TEST_F(Parts, StayOnTheirMachines) {
  const std::string file = parts_fleet();
  Program lobby = opened({file, "--not-here", "--no-measure", "--json"});
  const std::string code = code_of(lobby);
  std::vector<Joined> machines;
  for (const char* host : {"anna", "ben", "carl"}) {
    machines.push_back(join(host, code, {"--data", part_of(host)}));
    ASSERT_TRUE(lobby.says(fmt::format("{} joined", host)));
  }
  const Ended end = lobby.wait();
  ASSERT_EQ(end.code, 0) << end.err;
  expect_closed(machines);
  const Ended judged = run({"evaluate", path("parts.run"), "--json"});
  ASSERT_EQ(judged.code, 0) << judged.err << "the parts are elsewhere, the test set is here";
  EXPECT_EQ(judged.summary().at("accuracy"), end.summary().at("accuracy"));
  EXPECT_TRUE(judged.summary().at("same_test_set"));
  int id = 0;
  for (const char* host : {"anna", "ben", "carl"})
    fs::copy(part_of(host), path(fmt::format("part-{}.csv", id++)));
  EXPECT_EQ(end.summary().at("params_hash"), simulated(file)) << end.err;
}

TEST_F(Parts, WithOtherColumnsWaitForThoseThatAgree) {
  write_part(part_of("carl"), 3, "a,c,kind");
  Program lobby = opened({parts_fleet(), "--not-here", "--no-measure"});
  const std::string code = code_of(lobby);
  std::vector<Joined> machines;
  for (const char* host : {"anna", "ben", "carl"})
    machines.push_back(join(host, code, {"--data", part_of(host)}));
  EXPECT_TRUE(lobby.says("the columns of carl's data are not those of"));
  EXPECT_TRUE(lobby.says("tries again when a machine joins again, or at Enter"));
  machines[2]->kill(SIGINT);
  machines[2]->wait();
  write_part(part_of("carl"), 33);
  machines[2] = join("carl", code, {"--data", part_of("carl")});
  EXPECT_EQ(lobby.wait().code, 0);
  expect_closed(machines);
}

/// Found by a new user: the run began, named a path in a cache, and carl's screen showed nothing.
TEST_F(Parts, WithAClassThatTheStatisticsLackWaitUntilItIsMended) {
  const std::string file = parts_fleet();
  std::ofstream(path("stats.yaml"))
      << "version: 1\ncolumns:\n  - { name: a, mean: 0, deviation: 2 }\n"
      << "  - { name: b, mean: 0, deviation: 1 }\nclasses: [p, q]\n";
  std::ofstream(part_of("carl"), std::ios::app) << "1,2,r\n";
  Program lobby = opened({file, "--not-here", "--set", "data.standardize={ file: stats.yaml }"});
  const std::string code = code_of(lobby);
  std::vector<Joined> machines;
  for (const char* host : {"anna", "ben", "carl"})
    machines.push_back(join(host, code, {"--data", part_of(host)}));
  const std::string error =
      part_of("carl") + ":42: `r` in column `kind` is unknown to the statistics in `stats.yaml`";
  EXPECT_TRUE(machines[2]->says("error: " + error));
  EXPECT_TRUE(lobby.says("error: lobby: carl's data: " + error));
  EXPECT_TRUE(lobby.says("tries again when a machine joins again, or at Enter"));
  EXPECT_EQ(lobby.errors().find("measuring"), std::string::npos) << lobby.errors();
  write_part(part_of("carl"), 33);
  lobby.tell("");
  EXPECT_EQ(lobby.wait().code, 0);
  expect_closed(machines);
}

/// The lobby's own machine has the files of its peers, and a machine that joins has one file.
TEST_F(Parts, AreOneForEachPeer) {
  const std::string file = parts_fleet();
  write_part(path("part-0.csv"), 1);
  write_part(path("part-1.csv"), 2);
  Program lobby = opened({file, "--machines", "2", "--no-measure", "--json"});
  const Joined anna = join("anna", code_of(lobby), {"--data", part_of("anna")});
  const Ended end = lobby.wait();
  ASSERT_EQ(end.code, 0) << end.err;
  EXPECT_EQ(anna->wait().code, 0);
  fs::copy(part_of("anna"), path("part-2.csv"));
  EXPECT_EQ(end.summary().at("params_hash"), simulated(file)) << end.err;

  Program refusing = opened({file, "--not-here", "--machines", "2", "--no-measure"});
  const std::string code = code_of(refusing);
  std::vector<Joined> machines;
  for (const char* host : {"anna", "ben"})
    machines.push_back(join(host, code, {"--data", part_of(host)}));
  EXPECT_TRUE(refusing.says("anna would have 2 peers, all of which would train on its one part"));
  EXPECT_TRUE(refusing.says("tries again when a machine joins again, or at Enter"));
  refusing.tell("quit");
  EXPECT_EQ(refusing.wait().code, 0);
  expect_closed(machines);
}

TEST_F(Lobbies, RefuseAFleetBeforeMachinesHaveCome) {
  const std::string own = fleet("own.yaml", "hosts: { anna: {} }\npeers: [{ host: anna }, {}]\n",
                                "stop: { rounds: 10 }\n");
  const Ended hosts = opened({own}).wait();
  EXPECT_EQ(hosts.code, 2);
  EXPECT_NE(hosts.err.find("the file has `hosts` of its own"), std::string::npos) << hosts.err;
  std::ofstream(path("broken.yaml")) << "version: 1\npeers: [4\n";
  const Ended broken = opened({path("broken.yaml")}).wait();
  EXPECT_EQ(broken.code, 2);
  EXPECT_NE(broken.err.find("broken.yaml"), std::string::npos) << broken.err;
  EXPECT_EQ(broken.err.find("code "), std::string::npos) << broken.err;
  std::ofstream(path("a.csv")) << "size,rating\n1,good\n2,bad\n";
  std::ofstream(path("a.yaml")) << "version: 1\npeers: 2\nmodel: softmax\nstop: { rounds: 1 }\n"
                                << "data: { kind: table, file: a.csv, target: ratting, task: "
                                   "classification }\n";
  const Ended column = opened({path("a.yaml")}).wait();
  EXPECT_EQ(column.code, 2);
  EXPECT_NE(column.err.find("did you mean `rating`?"), std::string::npos) << column.err;
  EXPECT_EQ(column.err.find("code "), std::string::npos) << column.err;
}

}  // namespace
}  // namespace gv
