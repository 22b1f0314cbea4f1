#include <csignal>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "peer/record/report/metrics.h"
#include "peer/record/runs/stored_run.h"
#include "tests/peer/launch/launch_fixture.h"
#include "tests/text_of.h"

namespace gv {
namespace {

namespace fs = std::filesystem;

// Peers that die or stand still under a launcher, and the effect on the others.

TEST_F(Launch, AKilledPeerIsLostAndTheOthersFinish) {
  Program program({"run", fleet(5, 0), "--json"});
  ASSERT_TRUE(trains());
  const pid_t victim = pid_of(3);
  ::kill(victim, SIGKILL);
  ASSERT_TRUE(program.says("peer 3 lost"));
  program.kill(SIGTERM);
  const Ended ended = program.wait();
  EXPECT_EQ(ended.code, 143);
  EXPECT_EQ(ended.summary().at("lost"), 1) << ended.err;
  EXPECT_EQ(ended.summary().at("peers"), 4);
  EXPECT_NE(ended.err.find("killed by signal 9"), std::string::npos);
  EXPECT_NE(ended.err.find("[peer 2] peer 3 is away"), std::string::npos);
}

TEST_F(Launch, ExitsWithThreeWhenAPeerWasLostOnTheWay) {
  Program program({"run", fleet(4, 0, ""), "--json", "--set", "stop.time=3 s"});
  ASSERT_TRUE(trains());
  const pid_t victim = pid_of(0);
  ::kill(victim, SIGKILL);
  const Ended ended = program.wait();
  EXPECT_EQ(ended.code, 3) << ended.err;
  EXPECT_EQ(ended.summary().at("lost"), 1);
}

TEST_F(Launch, AStoppedPeerIsAwayAndComesBack) {
  Program program(
      {"run", fleet(4, 0, "faults: { heartbeat: 100 ms, dead_after: 1 s }\n"), "--json"});
  ASSERT_TRUE(trains());
  const pid_t sleeper = pid_of(2);
  ::kill(sleeper, SIGSTOP);
  EXPECT_TRUE(program.says("[peer 1] peer 2 is away (no message for"));
  EXPECT_TRUE(program.says("[peer 3] peer 2 is away"));
  ::kill(sleeper, SIGCONT);
  EXPECT_TRUE(program.says("[peer 1] peer 2 is back"));
  EXPECT_TRUE(program.says("[peer 3] peer 2 is back"));
  program.kill(SIGTERM);
  const Ended ended = program.wait();
  EXPECT_EQ(ended.code, 143);
  EXPECT_EQ(ended.summary().at("lost"), 0) << ended.err;
  EXPECT_EQ(ended.summary().at("peers"), 4);
}

TEST_F(Launch, RestartsAPeerThatDiedAndTheFleetEndsWhole) {
  Program program({"run", fleet(4, 0, "launch: { restart: on-failure }\n"), "--json"});
  ASSERT_TRUE(trains());
  const pid_t victim = pid_of(2);
  ::kill(victim, SIGKILL);
  EXPECT_TRUE(program.says("peer 2 starts again"));
  EXPECT_TRUE(program.says("[peer 2] took the model of peer"));
  EXPECT_TRUE(program.says("[peer 1] peer 2 is back as a new process"));
  EXPECT_TRUE(program.says("[peer 3] peer 2 is back as a new process"));
  program.kill(SIGTERM);
  const Ended ended = program.wait();
  EXPECT_EQ(ended.code, 143) << ended.err;
  EXPECT_EQ(ended.summary().at("lost"), 0) << ended.err;
  EXPECT_EQ(ended.summary().at("peers"), 4);
}

/// A process that no neighbour accepts is not restarted. It was once started again and again, until
/// the deadline of the program that waited for it.
TEST_F(Launch, StartsNobodyAgainWhomItsNeighboursWouldNotTake) {
  Program program({"run", fleet(4, 0, "launch: { restart: on-failure }\n"), "--json", "--set",
                   "algorithm=ad-psgd"});
  ASSERT_TRUE(trains());
  ::kill(pid_of(2), SIGKILL);
  EXPECT_TRUE(program.says("peer 2 is not started again: ad-psgd cannot replace a peer"));
  program.kill(SIGTERM);
  const Ended ended = program.wait();
  EXPECT_EQ(ended.code, 143) << ended.err;
  EXPECT_EQ(ended.err.find("starts again"), std::string::npos) << ended.err;
  EXPECT_EQ(ended.summary().at("lost"), 1) << ended.err;
}

TEST_F(Launch, ARestartedPeerGoesOnFromItsCheckpoint) {
  Program program({"run",
                   fleet(3, 0,
                         "launch: { restart: on-failure }\n"
                         "checkpoint: { every: 10 rounds }\n"),
                   "--json"});
  ASSERT_TRUE(trains());
  const pid_t victim = pid_of(1);
  ::kill(victim, SIGKILL);
  EXPECT_TRUE(program.says("[peer 1] resumes from the checkpoint of round"));
  EXPECT_TRUE(program.says("[peer 0] peer 1 is back as a new process"));
  program.kill(SIGTERM);
  EXPECT_EQ(program.wait().code, 143);
  // The metrics on disk contain the events too.
  const std::string metrics = text_of(path("run/metrics.jsonl"));
  EXPECT_NE(metrics.find("{\"event\":\"lost\",\"peer\":1,"), std::string::npos) << metrics;
  EXPECT_NE(metrics.find("{\"event\":\"restarted\",\"peer\":1}"), std::string::npos) << metrics;
}

/// metrics.jsonl reads as that of one run: no round comes twice, and neither seconds nor bytes go
/// back.
void expect_one_run(const std::string& folder, std::uint64_t least_rounds) {
  const std::vector<MetricsRow> rows = read_metrics(folder + "/metrics.jsonl");
  std::ifstream in(folder + "/metrics.jsonl");
  std::size_t lines = 0;
  for (std::string line; std::getline(in, line);)
    lines += line.find("\"event\":\"evaluate\"") != std::string::npos ? 1 : 0;
  EXPECT_EQ(lines, rows.size()) << "each round once";
  ASSERT_GE(rows.size(), least_rounds);
  for (std::size_t k = 1; k < rows.size(); ++k) {
    EXPECT_GE(rows[k].seconds, rows[k - 1].seconds) << "round " << rows[k].round;
    EXPECT_GE(*rows[k].training_seconds, *rows[k - 1].training_seconds);
    EXPECT_GT(*rows[k].sent_bytes, *rows[k - 1].sent_bytes) << "round " << rows[k].round;
    EXPECT_GE(*rows[k].samples, *rows[k - 1].samples) << "round " << rows[k].round;
  }
}

/// The whole fleet dies at once. Resumed, it ends with the bits of an undisturbed run.
TEST_F(Launch, AResumedRunEndsWithTheBitsOfAnUndisturbedOne) {
  const std::string file = fleet(3, 3000,
                                 "checkpoint: { every: 100 rounds, keep: 3 }\n"
                                 "evaluate: { every: 100 rounds }\n");
  const Ended whole = run({"simulate", file, "--no-save", "--json"});
  {
    Program program({"run", file, "--json"});
    ASSERT_TRUE(comes_true(
        [this] { return fs::exists(folder_ / "run/peers/001/checkpoints/00000300.ckpt"); }));
    program.kill(SIGKILL);
    program.wait();
  }
  const Ended resumed = run({"run", "--resume", path("run"), "--json"});
  ASSERT_EQ(resumed.code, 0) << resumed.err;
  EXPECT_NE(resumed.err.find("resumes from the checkpoint of round"), std::string::npos);
  EXPECT_EQ(resumed.summary().at("params_hash"), whole.summary().at("params_hash"));
  EXPECT_EQ(resumed.summary().at("rounds"), 3000);
  expect_one_run(path("run"), 25);
  const StoredRun stored = read_stored_run(path("run"));
  EXPECT_TRUE(stored.resumed);
  EXPECT_GT(resumed.summary().at("seconds"), stored.evaluations.front().seconds);
  const Ended simulated = run({"simulate", "--resume", path("run"), "--no-save", "--json"});
  ASSERT_EQ(simulated.code, 0) << simulated.err;
  EXPECT_EQ(simulated.summary().at("params_hash"), whole.summary().at("params_hash"));

  EXPECT_EQ(run({"run", "--resume", path("nothing")}).code, 5);
  const Ended both = run({"run", file, "--resume", path("run")});
  EXPECT_EQ(both.code, 2) << both.err;
}

TEST_F(Launch, StopsWhenTooFewPeersAreLeft) {
  Program program({"run", fleet(4, 0, "faults: { min_peers: 4 }\n"), "--json"});
  ASSERT_TRUE(trains());
  const pid_t victim = pid_of(1);
  ::kill(victim, SIGKILL);
  const Ended ended = program.wait();
  EXPECT_EQ(ended.code, 1) << ended.err;
  EXPECT_NE(ended.err.find("faults.min_peers is 4"), std::string::npos) << ended.err;
}

/// A peer learns all the others' addresses at once, when it listens itself. When addresses came one
/// by one, a restarted peer took the first for the full list and never trained.
TEST_F(Launch, NeighboursThatDieTogetherComeBackTogether) {
  const std::string more = "launch: { restart: on-failure }\ncheckpoint: { every: 100 rounds }\n";
  Program launcher({"run", fleet(4, 0, more), "--json"});
  const auto newest = [this](PeerId peer) {
    std::string name;
    std::error_code none_yet;
    const std::string kept = path(fmt::format("run/peers/{:03}/checkpoints", peer));
    for (const auto& each : fs::directory_iterator(kept, none_yet))
      if (each.path().extension() == ".ckpt") name = std::max(name, each.path().stem().string());
    return name;
  };
  ASSERT_TRUE(comes_true([&] { return !newest(1).empty() && !newest(2).empty(); }));
  const pid_t one = pid_of(1);
  const pid_t two = pid_of(2);
  ::kill(one, SIGKILL);
  ::kill(two, SIGKILL);
  for (const PeerId peer : {1U, 2U}) {
    EXPECT_TRUE(launcher.says(fmt::format("[peer {}] resumes from the checkpoint of round", peer)));
    const std::string before = newest(peer);
    EXPECT_TRUE(comes_true([&] { return newest(peer) > before; })) << "peer " << peer << " trains";
  }
  launcher.kill(SIGTERM);
  const Ended end = launcher.wait();
  EXPECT_EQ(end.code, 143) << end.err;
  EXPECT_EQ(end.summary().at("lost"), 0) << end.err;
}

}  // namespace
}  // namespace gv
