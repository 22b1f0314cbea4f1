#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "peer/record/export/trace_json.h"
#include "tests/peer/launch/launch_fixture.h"

// A run is watched and steered through the socket in its folder.

namespace gv {
namespace {

namespace fs = std::filesystem;

class LiveRun : public Launch {
 protected:
  std::string folder() const { return path("run"); }
  nlohmann::json top() const { return run({"top", folder(), "--json", "--once"}).summary(); }
};

TEST_F(LiveRun, IsWatchedKeptAndStoppedAndGoesOn) {
  Program program({"run", fleet(4, 0), "--json"});
  ASSERT_TRUE(trains());
  nlohmann::json state;  // made ten times a second, so it may be a moment old
  ASSERT_TRUE(comes_true([&] {
    state = top();
    return state.at("phase") == "training" && state.contains("latest");
  }));
  ASSERT_EQ(state.at("peers").size(), 4U);
  for (PeerId i = 0; i < 4; ++i) {
    EXPECT_EQ(state.at("peers")[i].at("pid"), pid_of(i));
    EXPECT_GT(state.at("peers")[i].at("memory_bytes"), 1'000'000);
  }
  EXPECT_GT(state.at("latest").at("round"), 0);
  const Ended kept = run({"checkpoint", folder(), "--json"});
  ASSERT_EQ(kept.code, 0) << kept.err;
  const auto round = kept.summary().at("round").get<Round>();
  const Ended stopped = run({"stop", folder(), "--json"});
  ASSERT_EQ(stopped.code, 0) << stopped.err;
  const Ended ended = program.wait();
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_GT(ended.summary().at("rounds"), round);
  EXPECT_EQ(stopped.summary().at("checkpoint"), ended.summary().at("rounds"));
  EXPECT_FALSE(fs::exists(folder() + "/live.sock"));
  EXPECT_EQ(top().at("phase"), "ended");
  EXPECT_EQ(run({"stop", folder()}).code, 5);
  EXPECT_EQ(run({"checkpoint", folder()}).code, 5);
  Program resumed({"run", "--resume", folder(), "--json"});
  EXPECT_TRUE(resumed.says("resumes from the checkpoint of round " +
                           std::to_string(ended.summary().at("rounds").get<Round>())));
  resumed.kill(SIGTERM);
  EXPECT_EQ(resumed.wait().code, 143);
}

/// The traced rounds lie between two rounds that are recorded anyway.
TEST_F(LiveRun, RecordsTheNextRoundsWhenItIsAsked) {
  Program program({"run", fleet(3, 0), "--json"});
  ASSERT_TRUE(trains());
  ASSERT_TRUE(comes_true([&] { return top().at("phase") == "training"; }));
  const std::string file = path("trace.json");
  const Ended traced = run({"trace", folder(), "-o", file, "--next", "30", "--json"});
  ASSERT_EQ(traced.code, 0) << traced.err;
  const auto first = traced.summary().at("first").get<Round>();
  EXPECT_EQ(traced.summary().at("last").get<Round>(), first + 29);
  for (Round round = first; round < first + 30; ++round)
    for (const PeerMoments& peer : read_moments(folder(), {round, round}))
      EXPECT_FALSE(peer.moments.empty()) << "peer " << peer.peer << " in round " << round;
  EXPECT_GT(fs::file_size(file), 1000U);
  program.kill(SIGTERM);
  EXPECT_EQ(program.wait().code, 143);
  EXPECT_EQ(run({"trace", folder(), "-o", file, "--next", "30"}).code, 5);
}

TEST_F(LiveRun, OfAKilledLauncherTheFolderTells) {
  Program program({"run", fleet(3, 0), "--json"});
  ASSERT_TRUE(trains());
  EXPECT_TRUE(comes_true([&] { return top().at("phase") == "training"; }));
  program.kill(SIGKILL);
  program.wait();
  EXPECT_TRUE(fs::exists(folder() + "/live.sock")) << "nobody was left to remove it";
  EXPECT_EQ(top().at("phase"), "ended");
  const Ended text = run({"top", folder()});
  EXPECT_EQ(text.code, 0) << text.err;
  EXPECT_NE(text.output().find("without a summary"), std::string::npos) << text.output();
}

/// A checkpoint of the last round is kept, even if the file asks for no checkpoints.
TEST_F(LiveRun, InterruptedSaysWhatItKeptAndHowToGoOn) {
  for (const bool keeps : {true, false}) {
    fs::remove_all(folder());
    Program program({"run", fleet(3, 0, keeps ? "checkpoint: { every: 100 rounds }\n" : "")});
    ASSERT_TRUE(trains());
    program.kill(SIGINT);
    const Ended ended = program.wait();
    EXPECT_EQ(ended.code, 130) << ended.err;
    EXPECT_NE(ended.output().find("stopped: "), std::string::npos) << ended.output();
    EXPECT_NE(ended.output().find("saved      " + folder() + "/model.safetensors"),
              std::string::npos);
    EXPECT_NE(ended.output().find("resume     grapevine run --resume " + folder()),
              std::string::npos)
        << ended.output();
  }
}

/// The state shows during the run which peer waits for which. `top` shows it from the page's
/// address as well as from the folder, but refuses without the token.
TEST_F(LiveRun, IsWatchedAtTheAddressOfItsPage) {
  Program program({"run", fleet(4, 0), "--json", "--serve", "127.0.0.1:0"});
  ASSERT_TRUE(trains());
  ASSERT_TRUE(program.says("page   http://"));
  const std::string said = program.errors();
  const std::size_t at = said.find("http://");
  const std::string url = said.substr(at, said.find('\n', at) - at);
  nlohmann::json state;
  ASSERT_TRUE(comes_true([&] {
    state = run({"top", url, "--json", "--once"}).summary();
    const auto& peers = state.at("peers");
    return state.at("phase") == "training" &&
           std::ranges::all_of(peers, [](const auto& peer) { return peer.contains("waits"); });
  }));
  for (const auto& peer : state.at("peers")) {
    ASSERT_EQ(peer.at("waits").size(), 2U) << "each has two neighbours on a ring";
    EXPECT_TRUE(peer.contains("states"));
    EXPECT_TRUE(peer.contains("staleness"));
    EXPECT_TRUE(peer.contains("queue"));
  }
  const std::string address = url.substr(7, url.find("/?") - 7);
  const std::string token = url.substr(url.find('=') + 1);
  EXPECT_EQ(run({"top", address, "--token", token, "--once"}).code, 0);
  const Ended refused = run({"top", address, "--once"});
  EXPECT_EQ(refused.code, 5);
  EXPECT_NE(refused.err.find("asks for the token"), std::string::npos) << refused.err;
  EXPECT_EQ(run({"top", "127.0.0.1:1", "--once"}).code, 5);
  EXPECT_EQ(run({"top", "example.org:80", "--once"}).code, 2);
  program.kill(SIGTERM);
  EXPECT_EQ(program.wait().code, 143);
}

TEST_F(LiveRun, ATimelineIsWrittenAtTheEnd) {
  const std::string file = path("trace.json");
  const Ended done = run({"run", fleet(3, 20), "--json", "--trace", file});
  EXPECT_EQ(done.code, 0) << done.err;
  EXPECT_NE(done.err.find("moments of 3 peers"), std::string::npos) << done.err;
  EXPECT_GT(fs::file_size(file), 1000U);
  const Ended refused =
      run({"run", fleet(3, 20), "--json", "--trace", file, "--set", "record=false"});
  EXPECT_EQ(refused.code, 2);
  EXPECT_NE(refused.err.find("--set record=true"), std::string::npos) << refused.err;
}

/// Evaluations follow the training clock, and no round was requested.
TEST_F(LiveRun, IsEvaluatedByTime) {
  const Ended done = run(
      {"run", fleet(3, 0), "--json", "--set", "evaluate.every=100 ms", "--set", "stop.time=2 s"});
  EXPECT_EQ(done.code, 0) << done.err;
  std::uint64_t ticks = 0;
  double last = 0;
  for (const std::string& line : done.out) {
    const nlohmann::json json = nlohmann::json::parse(line);
    if (!json.contains("tick")) continue;
    ++ticks;
    EXPECT_NEAR(json.at("training_seconds"), 0.1 * json.at("tick").get<double>(), 1e-9);
    EXPECT_GE(json.at("seconds"), last);
    EXPECT_EQ(json.at("peers"), 3);
    last = json.at("seconds");
  }
  EXPECT_GE(ticks, 1U) << "a busy machine may get to few of them";
}

TEST_F(LiveRun, AWrongAddressIsRefusedBeforeThereIsARun) {
  const Ended refused = run({"run", fleet(3, 10), "--serve", "0.0.0.0:8080"});
  EXPECT_EQ(refused.code, 2);
  EXPECT_NE(refused.err.find("is not encrypted"), std::string::npos) << refused.err;
  EXPECT_FALSE(fs::exists(folder()));
}

/// The launcher names the peer that the others wait for once, unasked.
TEST_F(LiveRun, NamesThePeerThatHoldsTheOthersUp) {
  const std::string file = path("unequal.yaml");
  std::ofstream(file) << "version: 1\nname: unequal\n"
                      << "peers: [{ count: 2, batch: 1 }, { batch: 2048 }]\n"
                      << "data: { kind: digits, train: 6000, test: 100 }\n"
                      << "model: { kind: mlp, hidden: [32] }\n"
                      << "train: { optimizer: { kind: sgd, lr: 0.01 } }\ntopology: ring\n"
                      << "stop: { time: 1 h }\noutput: { dir: " << folder() << " }\n";
  Program program({"run", file});
  EXPECT_TRUE(program.says("peer 2 holds the others up")) << program.errors();
  program.kill(SIGTERM);
  EXPECT_EQ(program.wait().code, 143);
}

}  // namespace
}  // namespace gv
