#include <csignal>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "tests/peer/launch/launch_fixture.h"

// Chains of peers as a user runs them: processes on this machine.

namespace gv {
namespace {

namespace fs = std::filesystem;

class ChainLaunch : public Launch {
 protected:
  /// Two chains of two peers that end after `rounds`, or never by themselves if `rounds` is 0.
  std::string chains(std::uint64_t rounds,
                     const std::string& parallel = "{ stages: 2, microbatches: 2 }",
                     const std::string& more = "",
                     PeerId peers = 4) const {
    const std::string path = (folder_ / "fleet.yaml").string();
    std::ofstream(path)
        << "version: 1\nname: test\nseed: 5\npeers: " << peers << "\nparallel: " << parallel
        << "\ndata: { kind: blobs, features: 6, classes: 3, train: 200, test: 50 }\n"
           "model: { kind: mlp, hidden: [9, 7, 8] }\n"
           "train: { batch: 8, optimizer: { kind: sgd, lr: 0.05, momentum: 0.9 } }\n"
           "topology: ring\n"
        << (rounds > 0 ? fmt::format("stop: {{ rounds: {} }}\nevaluate: {{ every: "
                                     "100 rounds }}\n",
                                     rounds)
                       : "stop: { time: 1 h }\nevaluate: { every: 50 rounds }\n")
        << more << "output: { dir: " << (folder_ / "run").string() << " }\n";
    return path;
  }

  /// Ends a run with Ctrl-C and resumes it from the newest checkpoint that all peers have. Returns
  /// the summary of the second part.
  nlohmann::json stops_and_goes_on(const std::string& parallel) {
    const std::string file = chains(20'000, parallel, "checkpoint: { every: 50 rounds }\n");
    {
      Program program({"run", file, "--json"});
      EXPECT_TRUE(comes_true(
          [this] { return fs::exists(folder_ / "run/peers/003/checkpoints/00000100.ckpt"); }));
      program.kill(SIGINT);
      EXPECT_EQ(program.wait().code, 130);
    }
    const Ended resumed =
        run({"run", "--resume", path("run"), "--set", "stop.rounds=1000", "--json"});
    EXPECT_EQ(resumed.code, 0) << resumed.err;
    const Ended whole = run({"simulate", file, "--set", "stop.rounds=1000", "--no-save", "--json"});
    EXPECT_EQ(resumed.summary().at("params_hash"), whole.summary().at("params_hash"));
    return resumed.summary();
  }
};

TEST_F(ChainLaunch, RunAndSimulateEndWithTheBitsOfWholePeers) {
  const Ended real = run({"run", chains(300), "--json"});
  ASSERT_EQ(real.code, 0) << real.err;
  const Ended simulated = run({"simulate", chains(300), "--no-save", "--json"});
  const Ended whole = run(
      {"simulate", chains(300, "{ stages: 1, microbatches: 2 }", "", 2), "--no-save", "--json"});
  EXPECT_EQ(real.summary().at("params_hash"), simulated.summary().at("params_hash"));
  EXPECT_EQ(real.summary().at("params_hash"), whole.summary().at("params_hash"));
  EXPECT_EQ(real.summary().at("loss"), whole.summary().at("loss"));
  EXPECT_EQ(real.summary().at("peers"), 2) << "models";
  EXPECT_EQ(real.summary().at("chains"), 2);
  EXPECT_EQ(real.summary().at("stages").size(), 2U);
  EXPECT_TRUE(fs::exists(path("run/model.safetensors")));
}

TEST_F(ChainLaunch, WhoLosesAStageEndsAloneAndTheOtherChainFinishes) {
  Program program({"run", chains(0), "--json", "--set", "stop.time=4 s"});
  ASSERT_TRUE(trains());
  const pid_t victim = pid_of(3);
  ::kill(victim, SIGKILL);
  const Ended ended = program.wait();
  EXPECT_EQ(ended.code, 3) << ended.err;
  EXPECT_EQ(ended.summary().at("lost"), 1) << ended.err;
  EXPECT_EQ(ended.summary().at("peers"), 1) << "one model of two is whole";
  EXPECT_NE(ended.err.find("without peer 3 its chain cannot complete a round"), std::string::npos)
      << ended.err;
}

TEST_F(ChainLaunch, StopsInOneRoundAndGoesOnToTheSameBits) {
  stops_and_goes_on("{ stages: 2, microbatches: 2 }");
}

/// The minibatches under way are sent forward again, with the weights that the checkpoints hold.
TEST_F(ChainLaunch, WithoutAFlushStopsInOneRoundAndGoesOnToTheSameBits) {
  const nlohmann::json summary = stops_and_goes_on("{ stages: 4, schedule: pipedream }");
  EXPECT_EQ(summary.at("schedule"), "pipedream");
}

/// Three peers share the work of the first stage.
TEST_F(ChainLaunch, CopiesOfAStageRunPlanStopAndGoOn) {
  const std::string parallel =
      "{ stages: 2, microbatches: 4, copies: [3, 1] }\nalgorithm: all-reduce";
  const Ended real = run({"run", chains(300, parallel), "--json"});
  ASSERT_EQ(real.code, 0) << real.err;
  const Ended simulated = run({"simulate", chains(300, parallel), "--no-save", "--json"});
  EXPECT_EQ(real.summary().at("params_hash"), simulated.summary().at("params_hash"));
  EXPECT_EQ(real.summary().at("peers"), 1) << "models";
  const Ended whole =
      run({"simulate", chains(300, "{ stages: 1, microbatches: 4 }\nalgorithm: all-reduce", "", 1),
           "--no-save", "--json"});
  EXPECT_NEAR(real.summary().at("loss").get<double>(), whole.summary().at("loss").get<double>(),
              1e-3);
  EXPECT_EQ(real.summary().at("samples"), whole.summary().at("samples"));
  EXPECT_TRUE(fs::exists(path("run/model.safetensors")));
  const Ended plan = run({"plan", chains(300, parallel), "--json"});
  ASSERT_EQ(plan.code, 0) << plan.err;
  EXPECT_EQ(plan.summary().at("copies"), (std::vector<PeerId>{3, 1}));
  fs::remove_all(path("run"));
  const nlohmann::json resumed = stops_and_goes_on(parallel);
  EXPECT_EQ(resumed.at("chains"), 1);
}

TEST_F(ChainLaunch, TheDeathOfACopyEndsTheRun) {
  Program program(
      {"run", chains(0, "{ stages: 2, microbatches: 4, copies: [3, 1] }\nalgorithm: all-reduce"),
       "--json"});
  ASSERT_TRUE(trains());
  ::kill(pid_of(1), SIGKILL);
  const Ended ended = program.wait();
  EXPECT_EQ(ended.code, 3) << ended.err;
  EXPECT_NE(ended.err.find("peer 1"), std::string::npos) << ended.err;
}

/// Two chains of two members. Each member has half of the rows of each layer but the last.
TEST_F(ChainLaunch, MembersOfAStageRunAndPlan) {
  const std::string parallel =
      "{ stages: 1, microbatches: 2, tensor: 2 }\nalgorithm: { kind: d-psgd, order: atc }";
  const auto even = [&](std::string file) {
    std::ifstream in(file);
    std::string text(std::istreambuf_iterator<char>(in), {});
    text.replace(text.find("[9, 7, 8]"), 9, "[8, 6, 8]");
    std::ofstream(file) << text;
    return file;
  };
  const Ended real = run({"run", even(chains(300, parallel)), "--json"});
  ASSERT_EQ(real.code, 0) << real.err;
  const Ended simulated = run({"simulate", even(chains(300, parallel)), "--no-save", "--json"});
  EXPECT_EQ(real.summary().at("params_hash"), simulated.summary().at("params_hash"));
  EXPECT_EQ(real.summary().at("model_hash"), simulated.summary().at("model_hash"));
  EXPECT_EQ(real.summary().at("peers"), 2) << "models";
  EXPECT_TRUE(fs::exists(path("run/model.safetensors")));
  const Ended plan = run({"plan", even(chains(300, parallel))});
  ASSERT_EQ(plan.code, 0) << plan.err;
  EXPECT_TRUE(std::ranges::any_of(plan.out, [](const std::string& line) {
    return line.find("2 members of each stage divide 3 of 4 layers") != std::string::npos;
  }));
}

TEST_F(ChainLaunch, ProfileAndPlanSayWhatDividingIsWorth) {
  const std::string file = chains(10);
  const Ended profile =
      run({"profile", file, "--rows", "2,8", "--seconds", "0.01", "-o", path("p.json")});
  ASSERT_EQ(profile.code, 0) << profile.err;
  ASSERT_GT(profile.out.size(), 2U);
  EXPECT_TRUE(profile.out[2].starts_with("fc")) << profile.out[2];
  const Ended plan = run({"plan", file, "--parallel", "--profile", path("p.json"), "--json"});
  ASSERT_EQ(plan.code, 0) << plan.err;
  EXPECT_EQ(plan.summary().at("schema"), "grapevine.plan-parallel/1");
  EXPECT_FALSE(plan.summary().at("proposals").empty());
  EXPECT_EQ(run({"plan", file, "--profile", path("p.json")}).code, 2);
}

/// Machines of different speeds, of which two are far apart. The search prints a line for the fleet
/// file, and a file with that line takes the promised seconds, links included.
TEST_F(ChainLaunch, ASearchSaysWhichMachineIsWhichStage) {
  const std::string file = path("unlike.yaml");
  std::ofstream(file) << "version: 1\n"
                         "hosts: { a: {}, b: {}, c: {}, d: {} }\n"
                         "peers: [{ host: a, speed: 1 }, { host: b, speed: 4 }, { host: c, speed: "
                         "2 }, { host: d, speed: 4 }]\n"
                         "data: { kind: blobs, features: 64, classes: 3, train: 200, test: 50 }\n"
                         "model: { kind: mlp, hidden: [64, 96, 32, 64] }\n"
                         "train: { batch: 16 }\nstop: { rounds: 20 }\n"
                         "simulate: { flops: 0.1 GFLOP/s }\n"
                         "network: { latency: 0.2 ms, bandwidth: 100 Mbit }\n"
                         "links: [{ between: [a, b], latency: 40 ms }, { between: [c, d], "
                         "bandwidth: 1 Mbit }]\n";
  const Ended plan = run({"plan", file, "--parallel", "--search", "1", "--json"});
  ASSERT_EQ(plan.code, 0) << plan.err;
  const nlohmann::json search = plan.summary().at("search");
  EXPECT_GT(search.at("moves"), 10);
  EXPECT_GE(search.at("samples_per_second"), search.at("best_of_partitioner"));
  const nlohmann::json best = plan.summary().at("proposals").at(0);
  const std::string keys = fmt::format(
      "parallel={{ stages: {}, place: {}, microbatches: {}, ahead: {}, recompute: {}, tensor: {} "
      "}}",
      best.at("stages").dump(), best.at("place").dump(), best.at("microbatches").dump(),
      best.at("ahead").dump(), best.at("recompute").dump(), best.value("tensor", 1));
  const Ended as_told = run({"plan", file, "--set", keys, "--json"});
  ASSERT_EQ(as_told.code, 0) << as_told.err;
  const double promised = best.at("seconds_per_round");
  EXPECT_NEAR(as_told.summary().at("predicted").at("seconds_per_round"), promised, 0.02 * promised)
      << keys;
  EXPECT_EQ(run({"plan", file, "--search", "1"}).code, 2) << "it is about --parallel";
  EXPECT_EQ(run({"plan", file, "--parallel", "--search", "-1"}).code, 2);
}

/// Wide layers, few samples and a fast link. The printed line is valid in the fleet file and agrees
/// with the JSON output.
TEST_F(ChainLaunch, ASearchSaysMembersAsAKey) {
  const std::string file = path("wide.yaml");
  std::ofstream(file) << "version: 1\npeers: 2\n"
                         "data: { kind: blobs, features: 16, classes: 4, train: 200, test: 40 }\n"
                         "model: { kind: mlp, hidden: [512, 512] }\n"
                         "train: { batch: 2 }\nstop: { rounds: 5 }\n"
                         "simulate: { flops: 0.1 GFLOP/s }\n"
                         "network: { latency: 1 us, bandwidth: 100 Mbit }\n";
  const Ended json = run({"plan", file, "--parallel", "--search", "1", "--json"});
  ASSERT_EQ(json.code, 0) << json.err;
  EXPECT_EQ(json.summary().at("proposals").at(0).value("tensor", 1), 2);
  const Ended text = run({"plan", file, "--parallel", "--search", "1"});
  ASSERT_EQ(text.code, 0) << text.err;
  std::string keys;
  for (const std::string& line : text.out)
    if (line.starts_with("  parallel: ")) keys = line.substr(2);
  EXPECT_NE(keys.find("tensor: 2"), std::string::npos) << keys;
  std::ofstream(file, std::ios::app) << keys << "\n";
  const Ended as_told = run({"plan", file, "--json"});
  ASSERT_EQ(as_told.code, 0) << as_told.err;
  EXPECT_EQ(as_told.summary().at("tensor"), 2);
}

}  // namespace
}  // namespace gv
