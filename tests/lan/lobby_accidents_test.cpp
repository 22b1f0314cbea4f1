#include "peer/fleet/read/algorithm_reader.h"
#include "tests/lan/lobbies.h"

// Accidents of machines in a lobby: they sleep, get another address, or their disk is full.

namespace gv {
namespace {

class Accidents : public Lobbies {
 protected:
  void TearDown() override {
    for (const std::string& disk : disks_) said_by("umount " + disk);
    Lobbies::TearDown();
  }
  /// Returns the processes of a run on a host whose command line holds these words.
  std::vector<pid_t> pids_of(const std::string& host, const std::string& words) const {
    std::vector<pid_t> all;
    std::istringstream pids(said_by(fmt::format("ip netns pids {}-{}", prefix(), host)));
    for (pid_t pid = 0; pids >> pid;) {
      const std::string line = said_by(fmt::format("tr '\\0' ' ' < /proc/{}/cmdline", pid));
      if (line.starts_with(grapevine_program()) && line.find(words) != std::string::npos)
        all.push_back(pid);
    }
    return all;
  }
  static void send(const std::vector<pid_t>& pids, int signal) {
    for (const pid_t pid : pids) ::kill(pid, signal);
  }
  /// Makes a folder a small disk of its own.
  void make_disk(const std::string& folder) {
    fs::create_directories(folder);
    ASSERT_EQ(said_by("mount -t tmpfs -o size=512k tmpfs " + folder), "");
    disks_.push_back(folder);
  }
  static void fill(const std::string& folder) {
    std::ofstream out(folder + "/fill");
    while (out << std::string(4096, 'x') << std::flush) continue;
  }
  static std::size_t count(const std::string& text, const std::string& part) {
    std::size_t n = 0;
    for (std::size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++n;
    return n;
  }
  /// Writes a fleet whose peers are started again.
  std::string lasting_fleet() const {
    return lobby_fleet(
        4, std::string(
               "stop: { time: 1 h }\nlaunch: { leash: 5 s, grace: 2 s, restart: on-failure }\n") +
               with_checkpoints);
  }
  /// Expects peer 3, on carl, in its place again.
  static void expect_back(Program& lobby) {
    EXPECT_TRUE(lobby.says("[peer 3] resumes from the checkpoint"));
    EXPECT_TRUE(lobby.says("[peer 0] peer 3 is back as a new process"));
    EXPECT_TRUE(lobby.says("[peer 2] peer 3 is back as a new process"));
  }
  /// Returns the newest round that the run has reported with all four peers.
  int whole_round() const {
    int newest = 0;
    std::ifstream in(path("fleet.yaml.run/metrics.jsonl"));
    for (std::string line; std::getline(in, line);) {
      const auto row = nlohmann::json::parse(line, nullptr, false);
      if (row.is_object() && row.value("peers", 0) == 4)
        newest = std::max(newest, row.value("round", 0));
    }
    return newest;
  }
  /// Waits until all peers train, then stops the run.
  void expect_whole(Program& lobby) const {
    constexpr int some_rounds = 100;
    const int before = whole_round();
    EXPECT_TRUE(comes_true([&] { return whole_round() > before + some_rounds; })) << lobby.errors();
    lobby.kill(SIGINT);
    const Ended end = lobby.wait();
    EXPECT_EQ(end.code, 130) << end.err;
    EXPECT_EQ(end.summary().at("peers"), 4) << end.err;
    EXPECT_EQ(end.summary().at("lost"), 0) << end.err;
  }

 private:
  std::vector<std::string> disks_;
};

/// Found by trying: the launcher started the peer again every few seconds, and listed each start as
/// a peer that it had lost, until it gave the peer up.
TEST_F(Accidents, AMachineThatIsAwayIsWaitedFor) {
  Program lobby = opened({lasting_fleet(), "--no-measure", "--json"});
  const std::string code = code_of(lobby);
  const std::vector<Joined> machines = join_all(code);
  ASSERT_TRUE(lobby.says("links "));
  ASSERT_TRUE(comes_true([&] { return has_round(path("fleet.yaml"), 40); })) << lobby.errors();
  machines[2]->kill(SIGKILL);
  ASSERT_TRUE(lobby.says("peer 3 lost at round"));
  ASSERT_TRUE(comes_true([&] {
    return pids_of("desk", "lobby-link --host carl --wait").size() == 1;
  })) << "the launcher asks for an agent while carl is away";
  const Joined carl = join("carl", code);
  expect_back(lobby);
  expect_whole(lobby);
  EXPECT_EQ(count(lobby.errors(), "peer 3 lost at round"), 1U) << lobby.errors();
  EXPECT_EQ(count(lobby.errors(), "peer 3 starts again (pid "), 1U) << lobby.errors();
}

/// Found by trying: the lobby's own agent gave up the launcher that had slept with it, and its peer
/// counted as one that had done all of its rounds.
TEST_F(Accidents, ALobbyThatSleepsKeepsItsOwnPeer) {
  Program lobby = opened({lasting_fleet(), "--no-measure", "--json"});
  const std::vector<Joined> machines = join_all(code_of(lobby));
  ASSERT_TRUE(comes_true([&] { return has_round(path("fleet.yaml"), 40); })) << lobby.errors();
  const std::vector<pid_t> agent = pids_of("desk", " agent "), all = pids_of("desk", "");
  ASSERT_EQ(agent.size(), 1U);
  send(all, SIGSTOP);
  EXPECT_TRUE(comes_true([&] { return processes("anna") == 1; }))
      << "after the leash the peers of the others end";
  send(agent, SIGCONT);
  std::this_thread::sleep_for(std::chrono::milliseconds(300));  // some of its turns
  send(all, SIGCONT);
  for (const char* peer : {"1", "2", "3"})
    EXPECT_TRUE(lobby.says(fmt::format("[peer {}] resumes from the checkpoint", peer)));
  EXPECT_EQ(lobby.errors().find("host localhost is lost"), std::string::npos) << lobby.errors();
  expect_whole(lobby);
  EXPECT_TRUE(comes_true([&] { return nothing_runs(); }));
}

/// Found by trying: its neighbours called the machine at the address that it had had at the start.
TEST_F(Accidents, AMachineComesBackWithAnotherAddress) {
  Program lobby = opened({lasting_fleet(), "--no-measure", "--json"});
  const std::string code = code_of(lobby);
  const std::vector<Joined> machines = join_all(code);
  ASSERT_TRUE(comes_true([&] { return has_round(path("fleet.yaml"), 40); })) << lobby.errors();
  const auto address = [&](const char* act, const char* number) {
    EXPECT_EQ(
        said_by(fmt::format("ip -n {}-carl address {} {}/24 dev eth0", prefix(), act, number)), "");
  };
  machines[2]->kill(SIGKILL);
  ASSERT_TRUE(lobby.says("carl has left"));
  address("del", "10.77.0.3");
  address("add", "10.77.0.53");
  const Joined carl = join("carl", code);
  ASSERT_TRUE(lobby.says("carl is back from 10.77.0.53"));
  expect_back(lobby);
  expect_whole(lobby);
}

/// Found by trying: the reason was on the screen of the machine alone, the lobby closed, and every
/// machine had to join again.
TEST_F(Accidents, AFullDiskIsNamedAndTheStartRepeated) {
  make_disk(path("folder_ben"));
  fill(path("folder_ben"));
  const std::string file = lobby_fleet(4, "stop: { rounds: 50 }\n");
  Program lobby = opened({file, "--no-measure", "--json"});
  const std::vector<Joined> machines = join_all(code_of(lobby));
  ASSERT_TRUE(lobby.says("tries again when a machine joins again, or at Enter"));
  const std::string said = lobby.errors();
  const std::size_t lost = said.find("host ben is lost: ");
  ASSERT_NE(lost, std::string::npos) << said;
  EXPECT_NE(said.substr(lost, said.find('\n', lost) - lost).find("No space left on device"),
            std::string::npos)
      << said;
  fs::remove(path("folder_ben") + "/fill");
  lobby.tell("");
  const Ended end = lobby.wait();
  ASSERT_EQ(end.code, 0) << end.err;
  EXPECT_EQ(end.summary().at("params_hash"), simulated(file));
  expect_closed(machines);
}

/// Found by trying: the run ended with code 5, as one that could not start.
TEST_F(Accidents, AFullDiskOfTheLobbyLeavesTheModelUnsaved) {
  make_disk(path("disk"));
  const std::string file =
      lobby_fleet(4, std::string("stop: { rounds: 100000 }\n") + with_checkpoints);
  Program lobby = opened({file, "--no-measure", "--set", "output.dir=" + path("disk/run"), "--set",
                          "stop.time=4 s", "--json"});
  const std::vector<Joined> machines = join_all(code_of(lobby));
  ASSERT_TRUE(comes_true([&] {
    return fs::exists(path("disk/run/metrics.jsonl")) &&
           fs::file_size(path("disk/run/metrics.jsonl")) > 0;
  })) << lobby.errors();
  fill(path("disk"));
  const Ended end = lobby.wait();
  EXPECT_EQ(end.code, 6) << end.err;
  EXPECT_NE(end.err.find("No space left on device"), std::string::npos) << end.err;
  expect_closed(machines);
}

/// Found by trying: the lobby let in a program of another version with the same wire version.
TEST_F(Accidents, AnotherVersionIsRefused) {
  std::ifstream in(grapevine_program(), std::ios::binary);
  std::string bytes{std::istreambuf_iterator<char>(in), {}};
  const std::string version = program_version;
  std::string other = version;
  other.back() = other.back() == '9' ? '8' : '9';
  ASSERT_GT(count(bytes, version), 0U);
  for (std::size_t at = bytes.find(version); at != bytes.npos; at = bytes.find(version, at))
    bytes.replace(at, version.size(), other);
  std::ofstream(path("other"), std::ios::binary) << bytes;
  fs::permissions(path("other"), fs::perms::owner_all);
  Program lobby = opened({});
  const Ended anna = Program({lab_, "in", folder(), "anna", path("other"), "join", code_of(lobby),
                              "--yes", "--name", "anna"},
                             Program::as_it_stands)
                         .wait();
  EXPECT_EQ(anna.code, 1);
  EXPECT_NE(anna.err.find(fmt::format("this machine has Grapevine {} (wire version", other)),
            std::string::npos)
      << anna.err;
  EXPECT_TRUE(lobby.says("install the same version on both"));
}

/// Found by trying: no search found how the two terminals reach each other, and the start failed.
TEST_F(Accidents, AMachineThatJoinsTwiceTrainsTwice) {
  const std::string file = lobby_fleet(3, "stop: { rounds: 50 }\n");
  Program lobby = opened({file, "--no-measure", "--json"});
  const std::string code = code_of(lobby);
  const Joined first = join("anna", code), second = join("anna", code);
  const Ended end = lobby.wait();
  ASSERT_EQ(end.code, 0) << end.err;
  EXPECT_NE(end.err.find("anna-2 joined from 10.77.0.1"), std::string::npos) << end.err;
  EXPECT_EQ(end.summary().at("params_hash"), simulated(file));
  EXPECT_EQ(first->wait().code, 0);
  EXPECT_EQ(second->wait().code, 0);
}

}  // namespace
}  // namespace gv
