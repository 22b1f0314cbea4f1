#include <cmath>
#include <csignal>
#include <filesystem>
#include <fstream>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "peer/launch/launcher/launcher.h"
#include "tests/peer/launch/launch_fixture.h"

namespace gv {
namespace {

namespace fs = std::filesystem;

TEST_F(Launch, RunsAFleetToItsEndWithTheBitsOfTheSimulator) {
  const std::string file = fleet(3, 50, "evaluate: { every: 20 rounds }\n");
  const Ended real = run({"run", file, "--json"});
  ASSERT_EQ(real.code, 0) << real.err;
  const Ended simulated = run({"simulate", file, "--json"});
  ASSERT_EQ(simulated.code, 0) << simulated.err;
  EXPECT_EQ(real.out.size(), 4U) << "rounds 20, 40, the end, the summary";
  EXPECT_EQ(real.summary().at("event"), "summary");
  EXPECT_EQ(real.summary().at("rounds"), 50);
  EXPECT_EQ(real.summary().at("peers"), 3);
  EXPECT_EQ(real.summary().at("params_hash"), simulated.summary().at("params_hash"));
  EXPECT_EQ(real.summary().at("sent_bytes"), simulated.summary().at("sent_bytes"));
  for (const char* name : {"metrics.jsonl", "model.safetensors", "summary.json", "fleet.yaml"})
    EXPECT_TRUE(fs::exists(folder_ / "run" / name)) << name;
  EXPECT_EQ(peer_pids().size(), 3U);
  for (const pid_t pid : peer_pids()) EXPECT_FALSE(alive(pid));
  // The next run of the same file takes the next folder.
  EXPECT_EQ(run({"run", file, "--json"}).code, 0);
  EXPECT_TRUE(fs::exists(folder_ / "run-2/summary.json"));
}

TEST_F(Launch, SaysWhichEdgesAreInSharedMemory) {
  const std::string file = fleet(4, 3000);
  const Ended shared = run({"run", file, "--json"});
  ASSERT_EQ(shared.code, 0) << shared.err;
  EXPECT_EQ(shared.summary().at("edges"), 4);
  EXPECT_EQ(shared.summary().at("shared_edges"),
            nlohmann::json::parse("[[0,1],[0,3],[1,2],[2,3]]"));
  const Ended sent = run({"run", file, "--json", "--set", "network.local=tcp"});
  ASSERT_EQ(sent.code, 0) << sent.err;
  EXPECT_EQ(sent.summary().at("edges"), 4);
  EXPECT_EQ(sent.summary().at("shared_edges"), nlohmann::json::array());
  EXPECT_EQ(shared.summary().at("params_hash"), sent.summary().at("params_hash"));
}

/// Real peers do not begin at the same time. A peer that began late once took the model of a
/// neighbour that the schedule had let run ahead.
TEST_F(Launch, RunsSchedulesWithTheBitsOfTheSimulator) {
  const std::string file = fleet(6, 100);
  for (const char* schedule : {"one-peer-exponential", "random-matching", "base:k=1"}) {
    SCOPED_TRACE(schedule);
    const std::string set = std::string("topology=") + schedule;
    const Ended real = run({"run", file, "--json", "--set", set});
    ASSERT_EQ(real.code, 0) << real.err;
    const Ended simulated = run({"simulate", file, "--json", "--set", set});
    EXPECT_EQ(real.summary().at("params_hash"), simulated.summary().at("params_hash"));
    EXPECT_EQ(real.summary().at("sent_bytes"), simulated.summary().at("sent_bytes"));
    const auto plan = run({"plan", file, "--json", "--set", set}).summary();
    EXPECT_EQ(plan.at("topology").get<std::string>().find(schedule), 0U);
    EXPECT_EQ(plan.at("weights"), "");
    const std::string name = schedule;
    EXPECT_EQ(plan.at("schedule").at("period") == 0, name == "random-matching");
    const double factor = plan.at("slem").get<double>();
    if (name == "random-matching") {
      EXPECT_NEAR(factor, std::sqrt(0.4), 1e-12);
    } else if (name == "base:k=1") {
      EXPECT_EQ(factor, 0);
    }
    // The plan gives the bytes of the busiest peer. In a base graph other peers send less.
    const double all = 6 * 100 * plan.at("bytes_per_round").get<double>();
    const double share = real.summary().at("sent_bytes").get<double>() / all;
    EXPECT_LT(share, 1.1);
    EXPECT_GT(share, 0.7);
  }
}

/// A second interrupt within a second counts as the same one. Peer 1 is stopped, so that only the
/// second interrupt can end the run.
TEST_F(Launch, FirstInterruptSavesSecondStopsAtOnce) {
  for (const int interrupts : {1, 2}) {
    fs::remove_all(folder_ / "run");
    Program program({"run", fleet(4, 0, "launch: { grace: 1 h }\n"), "--json"});
    ASSERT_TRUE(trains());
    if (interrupts == 2) ::kill(pid_of(1), SIGSTOP);
    program.kill(SIGINT);
    if (interrupts == 2) {
      ASSERT_TRUE(program.says("stopping"));
      std::this_thread::sleep_for(std::chrono::milliseconds(1100));
      program.kill(SIGINT);
    }
    const Ended ended = program.wait();
    EXPECT_EQ(ended.code, 130) << ended.err;
    if (interrupts == 1) {
      EXPECT_EQ(ended.summary().at("lost"), 0) << ended.err;
      EXPECT_GT(ended.summary().at("rounds"), 0);
      EXPECT_TRUE(fs::exists(folder_ / "run/model.safetensors"));
    }
    EXPECT_EQ(peer_pids().size(), 4U);
    for (const pid_t pid : peer_pids()) EXPECT_FALSE(alive(pid));
  }
}

/// The neighbours once waited for the stuck peer until all were killed, and no model was saved.
TEST_F(Launch, AfterAnInterruptAStuckPeerIsKilledSoThatTheOthersSave) {
  for (const char* const graph : {"ring", "complete"}) {
    fs::remove_all(folder_ / "run");
    const std::string keys =
        "launch: { grace: 1 h }\nfaults: { dead_after: 2 s, heartbeat: 200 ms }\n";
    Program program(
        {"run", fleet(4, 0, keys), "--json", "--set", std::string("topology=") + graph});
    ASSERT_TRUE(trains());
    ::kill(pid_of(1), SIGSTOP);
    program.kill(SIGINT);
    const Ended ended = program.wait();
    EXPECT_EQ(ended.code, 130) << ended.err;
    EXPECT_NE(ended.err.find("peer 1 does not answer"), std::string::npos) << ended.err;
    EXPECT_EQ(ended.summary().at("lost"), 1) << ended.err;
    EXPECT_EQ(ended.summary().at("peers"), 3) << ended.err;
    EXPECT_TRUE(fs::exists(folder_ / "run/model.safetensors"));
    for (const pid_t pid : peer_pids()) EXPECT_FALSE(alive(pid));
  }
}

TEST_F(Launch, TerminationIsAnInterruptWithItsOwnCode) {
  Program program({"run", fleet(3, 0), "--json"});
  ASSERT_TRUE(trains());
  program.kill(SIGTERM);
  const Ended ended = program.wait();
  EXPECT_EQ(ended.code, 143) << ended.err;
  EXPECT_EQ(ended.summary().at("event"), "summary");
}

TEST_F(Launch, NoPeerOutlivesAKilledLauncher) {
  Program program({"run", fleet(4, 0), "--json"});
  ASSERT_TRUE(trains());
  const std::vector<pid_t> pids = peer_pids();
  ASSERT_EQ(pids.size(), 4U);
  for (const pid_t pid : pids) EXPECT_TRUE(alive(pid));
  program.kill(SIGKILL);
  EXPECT_EQ(program.wait().code, 1000 + SIGKILL);
  for (const pid_t pid : pids) EXPECT_TRUE(comes_true([&] { return !alive(pid); })) << pid;
}

TEST_F(Launch, StopsWhenTheTargetIsReached) {
  const std::string file = fleet(2, 0);
  std::ofstream(file) << "version: 1\nname: test\npeers: 2\n"
                         "data: { kind: blobs, train: 400, test: 100, separation: 8 }\n"
                         "model: softmax\ntrain: { optimizer: { kind: sgd, lr: 0.1 }, batch: 8 }\n"
                         "topology: ring\nstop: { target: { accuracy: 0.9 } }\n"
                         "evaluate: { every: 20 rounds }\noutput: { dir: "
                      << path("run") << " }\n";
  const Ended ended = run({"run", file, "--json"});
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_GE(ended.summary().at("accuracy"), 0.9);
  EXPECT_NE(ended.err.find("the target is reached"), std::string::npos);
}

/// A script that trains to a target must not continue with a model that missed it.
TEST_F(Launch, AMissedTargetIsAnExitCode) {
  const std::string file = fleet(2, 20);
  for (const char* command : {"run", "simulate"}) {
    const std::string folder = path(command);
    const Ended missed = run({command, file, "--set", "stop={ rounds: 20, target: { loss: 1e-9 } }",
                              "--set", "output.dir=" + folder});
    EXPECT_EQ(missed.code, 4) << missed.err;
    EXPECT_NE(missed.output().find("target     loss 1e-09 missed"), std::string::npos)
        << missed.output();
    const Ended compared = run({"compare", folder});
    EXPECT_EQ(compared.code, 0) << "the run is whole: " << compared.err;
    EXPECT_EQ(run({command, file, "--set", "stop={ rounds: 20, target: { loss: 1e9 } }"}).code, 0);
  }
  EXPECT_EQ(run({"simulate", file, "--until", "10", "--set",
                 "stop={ rounds: 20, target: { loss: 1e-9 } }"})
                .code,
            0)
      << "it stops to be gone on with";
}

TEST_F(Launch, WhatCannotStartSaysWhy) {
  const std::string file = fleet(2, 10);
  Ended ended = run({"run", file, "--peer-binary", "/nowhere/grapevine"});
  EXPECT_EQ(ended.code, 5);
  EXPECT_NE(ended.err.find("/nowhere/grapevine: No such file"), std::string::npos) << ended.err;

  ended = run({"run", file, "--peer-binary", "/bin/false"});
  EXPECT_EQ(ended.code, 5);
  EXPECT_NE(ended.err.find("exit 1"), std::string::npos) << ended.err;

  std::ofstream(folder_ / "plain") << "no folder";
  ended = run({"run", file, "--set", "output.dir=" + path("plain/run")});
  EXPECT_EQ(ended.code, 5);
  EXPECT_NE(ended.err.find("cannot make the run folder"), std::string::npos) << ended.err;

  fs::remove_all(folder_ / "run");
  ended = run({"run", file, "--set", "topology={ kind: torus, shape: [2, 4] }"});
  EXPECT_EQ(ended.code, 2) << ended.err;
  EXPECT_FALSE(fs::exists(folder_ / "run")) << "a wrong file must start nothing";
}

/// The launcher evaluates on one thread, because the other cores belong to the peers that train. A
/// run of LeNet-5 was once faster with OMP_NUM_THREADS=1.
TEST_F(Launch, TheLauncherEvaluatesOnOneThread) {
  const std::string file = path("classes.yaml");
  std::ofstream(file) << "version: 1\nname: classes\npeers: 2\n"
                         "data: { kind: digits, train: 200, test: 300 }\nmodel: mlp\n"
                         "stop: { time: 1 h }\nevaluate: { every: 5 rounds }\n"
                      << "output: { dir: " << path("run") << " }\n";
  ASSERT_EQ(::setenv("OMP_NUM_THREADS", "3", 1), 0);  // any number of threads but one
  Program program({"run", file, "--json"});
  ::unsetenv("OMP_NUM_THREADS");
  ASSERT_TRUE(trains());
  int threads = 0;
  for (const auto& thread : fs::directory_iterator(fmt::format("/proc/{}/task", program.pid()))) {
    std::string name;
    std::ifstream(thread.path() / "comm") >> name;
    // The other threads show the run or write its files, and evaluate nothing.
    if (name != "live" && name != "console" && name != "run-writer") ++threads;
  }
  EXPECT_EQ(threads, 1);
  program.kill(SIGTERM);
  EXPECT_EQ(program.wait().code, 143);
}

}  // namespace
}  // namespace gv
