#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "gossip/algorithm.h"
#include "peer/model/tensors/tensor_file.h"
#include "tests/peer/launch/program.h"
#include "tests/scratch_folder.h"
#include "tests/text_of.h"

// Fleets of programs, from `run` to their results.

namespace gv {
namespace {

std::string quadratic_peer() {
  return GV_QUADRATIC_PEER;
}

class ProgramRun : public testing::Test {
 protected:
  std::string path(const std::string& name) const { return folder_.path() + "/" + name; }
  /// Writes a fleet of three peers that run quadratic_peer with these words.
  std::string fleet(const std::string& words, const std::string& more) const {
    std::ofstream(path("fleet.yaml"))
        << "version: 1\nname: programs\nseed: 5\npeers: 3\nprogram: [" << quadratic_peer()
        << (words.empty() ? "" : ", ") << words
        << "]\ntopology: ring\noutput: { dir: " << path("run") << " }\n"
        << more;
    return path("fleet.yaml");
  }
  nlohmann::json document(const std::string& name) const {
    return nlohmann::json::parse(text_of(path(name)), nullptr, false);
  }
  /// Returns the numbers of all tensors of the saved model.
  std::vector<float> saved() const {
    const auto file = open_safetensors(path("run/model.safetensors"));
    std::vector<float> all;
    for (std::size_t k = 0; k < file->tensors().size(); ++k)
      for (const float value : file->read(k)) all.push_back(value);
    return all;
  }

  ScratchFolder folder_;
};

constexpr const char* forty = "stop: { rounds: 40 }\nevaluate: { every: 10 rounds }\n";

TEST_F(ProgramRun, LearnsWhatNoPeerAloneWould) {
  const Ended ended = Program({"run", fleet("", forty), "--json"}).wait();
  ASSERT_EQ(ended.code, 0) << ended.err;
  const nlohmann::json summary = ended.summary();
  EXPECT_LT(summary["loss"].get<double>(), 1e-6);
  EXPECT_TRUE(summary["accuracy"].is_null());
  EXPECT_EQ(summary["rounds"], 40);
  EXPECT_EQ(document("run/run.json")["model"], "program");
  EXPECT_EQ(document("run/run.json")["data"], "program");
  EXPECT_EQ(document("run/run.json")["program"][0], quadratic_peer());
  ASSERT_EQ(saved().size(), 7U);
  for (const float value : saved()) EXPECT_NEAR(value, 1, 1e-3);
  EXPECT_TRUE(std::filesystem::exists(path("run/start.safetensors")));
  EXPECT_NE(text_of(path("run/peers/001/stderr.log")).find("prints what it likes"),
            std::string::npos);
}

/// `collect` makes the same run of what peers without a launcher leave.
TEST_F(ProgramRun, OfPeersByHandIsCollected) {
  const std::string at = fmt::format("127.0.0.1:{}", 30'000 + ::getpid() * 4 % 8'000);
  for (const char* algorithm : {"d-psgd", "{ kind: d-psgd, order: atc }", "gradient-tracking"}) {
    SCOPED_TRACE(algorithm);
    const std::string file = fleet("", fmt::format("algorithm: {}\n{}", algorithm, forty));
    const std::string hand = "output.dir=" + path("hand");
    std::filesystem::remove_all(path("hand"));
    std::vector<std::unique_ptr<Program>> peers;
    for (const char* id : {"0", "1", "2"})
      peers.push_back(std::make_unique<Program>(
          std::vector<std::string>{"peer", file, "--id", id, "--at", at, "--set", hand}));
    for (const auto& peer : peers) {
      const Ended ended = peer->wait();
      ASSERT_EQ(ended.code, 0) << ended.err;
      EXPECT_NE(ended.err.find("grapevine collect " + path("hand")), std::string::npos)
          << ended.err;
    }
    const Ended collected = Program({"collect", path("hand"), "--trust", "--json"}).wait();
    ASSERT_EQ(collected.code, 0) << collected.err;
    const Ended run = Program({"run", file, "--json"}).wait();
    ASSERT_EQ(run.code, 0) << run.err;
    for (const char* figure : {"params_hash", "model_hash", "loss", "rounds", "peers", "consensus"})
      EXPECT_EQ(collected.summary()[figure], run.summary()[figure]) << figure;
    EXPECT_EQ(collected.out.size(), run.out.size());
    for (const char* kept : {"model.safetensors", "metrics.jsonl", "fleet.yaml"})
      EXPECT_TRUE(std::filesystem::exists(path("hand/") + kept)) << kept;
    EXPECT_EQ(document("hand/run.json")["program"], document("run/run.json")["program"]);
    EXPECT_EQ(Program({"report", path("hand"), "-o", path("report.html")}).wait().code, 0);
  }
}

/// The process that replaces a dead peer never reaches the others, which finish before. The run
/// then ends.
TEST_F(ProgramRun, WaitsForNobodyWhoseNeighboursHaveFinished) {
  std::ofstream(path("slow.sh"))
      << "case \"$GRAPEVINE_PEER\" in *'\"rejoin\":true'*) exec sleep 600;; esac\n"
      << "exec " << quadratic_peer() << "\n";
  for (const char* topology : {"path", "complete"}) {
    std::ofstream(path("fleet.yaml"))
        << "version: 1\nseed: 5\npeers: 3\nprogram: [sh, " << path("slow.sh")
        << "]\ntopology: " << topology << "\noutput: { dir: " << path(topology)
        << " }\nstop: { rounds: 300 }\n"
        << "evaluate: { every: 100 rounds }\nlaunch: { restart: on-failure }\n"
        << "network: { latency: 1 ms, emulate: true }\n"
        << "faults: { inject: [{ at: 200 ms, kill: 2 }] }\n";
    const Ended ended = Program({"run", path("fleet.yaml"), "--json"}).wait();
    EXPECT_EQ(ended.code, 3) << ended.err;
    EXPECT_NE(ended.err.find("peer 2 restarted too late: its neighbours have finished"),
              std::string::npos)
        << ended.err;
    EXPECT_EQ(ended.summary()["lost"], 1) << ended.err;
    EXPECT_EQ(ended.summary()["rounds"], 300) << ended.err;
  }
}

TEST_F(ProgramRun, EndsWithTheSameBitsEachTime) {
  std::vector<std::string> hashes;
  for (int k = 0; k < 2; ++k) {
    const Ended ended = Program({"run", fleet("", forty), "--json"}).wait();
    ASSERT_EQ(ended.code, 0) << ended.err;
    hashes.push_back(ended.summary()["params_hash"]);
  }
  EXPECT_EQ(hashes[0], hashes[1]);
}

/// Without `evaluate` the run has training loss and consensus, and reports no fault.
TEST_F(ProgramRun, HasNullFiguresWhereNobodyEvaluates) {
  const Ended ended = Program({"run", fleet("mute", forty), "--json"}).wait();
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_TRUE(ended.summary()["loss"].is_null());
  EXPECT_TRUE(ended.summary()["loss_local"].is_null()) << ended.out.back();
  EXPECT_FALSE(ended.summary()["train_loss"].is_null() && ended.out.size() < 2);
  EXPECT_EQ(ended.err.find("loss rise"), std::string::npos) << ended.err;
  EXPECT_EQ(ended.err.find("not finite"), std::string::npos) << ended.err;
  EXPECT_EQ(ended.err.find("no longer finite"), std::string::npos) << ended.err;
  for (const std::vector<std::string>& command : std::vector<std::vector<std::string>>{
           {"report", path("run")}, {"compare", path("run"), path("run")}, {"top", path("run")}}) {
    const Ended shown = Program(command).wait();
    EXPECT_TRUE(shown.code == 0 || shown.code == 2) << command[0] << shown.err << shown.output();
    EXPECT_EQ(shown.err.find("internal"), std::string::npos) << shown.err;
  }
}

TEST_F(ProgramRun, GoesOnWhereAnEvaluationFails) {
  const Ended ended = Program({"run", fleet("silent", forty), "--json"}).wait();
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_TRUE(ended.summary()["loss"].is_null());
  const std::string said = "gave no figures of the fleet's model";
  EXPECT_NE(ended.err.find(said), std::string::npos) << ended.err;
  EXPECT_EQ(ended.err.find(said), ended.err.rfind(said)) << ended.err;
}

/// The launcher waits for the figures, but also obeys Ctrl-C.
TEST_F(ProgramRun, EndsByCtrlCWhileAnEvaluationHangs) {
  Program run({"run", fleet("\"hangs=" + path("asked") + "\"", "evaluate: { every: 2 rounds }\n")});
  ASSERT_TRUE(comes_true([&] { return std::filesystem::exists(path("asked")); }));
  run.kill(SIGINT);
  ASSERT_TRUE(run.says("stopping"));
  run.kill(SIGINT);
  EXPECT_EQ(run.wait().code, 130);
}

/// While an evaluation hangs, training continues and the launcher obeys orders.
TEST_F(ProgramRun, IsLaunchedAndStoppedWhileAnEvaluationHangs) {
  Program run({"run", fleet("slow=5, \"hangs=" + path("asked") + "\"",
                            "evaluate: { every: 2 rounds }\nlaunch: { grace: 3 s }\n"
                            "stop: { time: 1 h }\n")});
  ASSERT_TRUE(comes_true([&] { return std::filesystem::exists(path("asked")); }));
  const Ended stopped = Program({"stop", path("run")}).wait();
  EXPECT_EQ(stopped.code, 0) << stopped.err;
  const Ended ended = run.wait();
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_NE(ended.err.find("grapevine stop asked for it"), std::string::npos) << ended.err;
  EXPECT_TRUE(std::filesystem::exists(path("run/model.safetensors")));
  EXPECT_TRUE(document("run/summary.json")["loss"].is_null());
}

/// The program itself decides when training is done.
TEST_F(ProgramRun, EndsWithItsPrograms) {
  const Ended ended = Program({"run", fleet("steps=12", ""), "--json"}).wait();
  ASSERT_EQ(ended.code, 0) << ended.err;
  EXPECT_EQ(ended.summary()["rounds"], 12);
}

TEST_F(ProgramRun, GoesOnWithoutAPeerThatDies) {
  const Ended ended = Program({"run", fleet("dies=5", forty), "--json"}).wait();
  EXPECT_EQ(ended.code, 3) << ended.err;
  EXPECT_EQ(ended.summary()["lost"], 1);
  EXPECT_NE(ended.err.find("exit 9"), std::string::npos) << ended.err;
}

/// The first and the last case once ended the whole run with exit 5. In the second case a peer once
/// left silently in the middle, and its model still counted.
TEST_F(ProgramRun, OneMemberEndsNothingButItself) {
  for (const auto& [word, why] :
       {std::pair{"closes=3", "did its program close descriptor 3?"},
        std::pair{"closes=4, slow=50", "has closed descriptor 4"},
        std::pair{"closes=5", "peer 0 lost"}, std::pair{"huge", "longer than the model"}}) {
    // The launcher sends the peers a line for each checkpoint.
    const std::string file = fleet(word, std::string(forty) + "checkpoint: { every: 1 rounds }\n");
    const Ended ended = Program({"run", file, "--json"}).wait();
    EXPECT_EQ(ended.code, 3) << word << "\n" << ended.err;
    EXPECT_EQ(ended.summary()["lost"], 1) << word << "\n" << ended.err;
    EXPECT_EQ(ended.summary()["rounds"], 40) << word << "\n" << ended.err;
    EXPECT_NE(ended.err.find(why), std::string::npos) << word << "\n" << ended.err;
  }
}

/// A peer ends with its process, even if another process still holds its descriptors. It once
/// waited for ever for a pipe that its child held open.
TEST_F(ProgramRun, LeavesNoChildBehind) {
  const Ended ended =
      Program({"run", fleet("\"forks=" + path("child") + "\"", forty), "--json"}).wait();
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_EQ(ended.summary()["rounds"], 40);
  const pid_t child = std::atoi(text_of(path("child")).c_str());
  ASSERT_GT(child, 0);
  EXPECT_TRUE(comes_true([&] { return !alive(child); }));
}

/// An evaluation that takes longer than faults.stuck_after has no figures.
TEST_F(ProgramRun, EndsWithoutFiguresWhereAnEvaluationHangs) {
  const Ended ended = Program({"run",
                               fleet("\"hangs=" + path("asked") + "\"",
                                     "stop: { rounds: 40 }\nevaluate: { every: 10 rounds }\n"
                                     "faults: { stuck_after: 1 s }\n"),
                               "--json"})
                          .wait();
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_EQ(ended.summary()["rounds"], 40);
  EXPECT_TRUE(ended.summary()["loss"].is_null());
  const std::string said =
      "evaluating the fleet's model for 1 s and is killed (faults.stuck_after)";
  EXPECT_NE(ended.err.find(said), std::string::npos) << ended.err;
  EXPECT_EQ(ended.err.find("from now on"), ended.err.rfind("from now on")) << ended.err;
}

/// The mistake is reported once, before there is a run.
TEST_F(ProgramRun, OfAScriptThatFailsLeavesNothing) {
  std::ofstream(path("train.py")) << "import no_such_module\n";
  std::ofstream(path("fleet.yaml"))
      << "version: 1\npeers: 8\nprogram: [python3, " << path("train.py")
      << "]\noutput: { dir: " << path("run") << " }\n";
  const Ended ended = Program({"run", path("fleet.yaml")}).wait();
  EXPECT_EQ(ended.code, 5);
  EXPECT_NE(ended.err.find("No module named"), std::string::npos) << ended.err;
  EXPECT_EQ(ended.err.find("Traceback"), ended.err.rfind("Traceback"));
  EXPECT_FALSE(std::filesystem::exists(path("run")));
}

TEST_F(ProgramRun, GoesOnFromItsCheckpointsWithTheStateOfThePrograms) {
  const std::string file = fleet("", "stop: { rounds: 60 }\ncheckpoint: { every: 10 rounds }\n");
  const Ended whole = Program({"run", file, "--json"}).wait();
  ASSERT_EQ(whole.code, 0) << whole.err;
  // Leaves the run as a machine that went down would.
  std::filesystem::remove(path("run/summary.json"));
  for (int peer = 0; peer < 3; ++peer)
    for (const auto& entry :
         std::filesystem::recursive_directory_iterator(path(fmt::format("run/peers/{:03}", peer))))
      if (entry.path().filename().string().find("60") != std::string::npos)
        std::filesystem::remove(entry.path());
  const Ended rest = Program({"run", "--resume", path("run"), "--json"}).wait();
  ASSERT_EQ(rest.code, 0) << rest.err;
  EXPECT_EQ(rest.summary()["params_hash"], whole.summary()["params_hash"]);
  EXPECT_NE(text_of(path("run/peers/000/stderr.log")).find("goes on after 5"), std::string::npos);
}

/// Only the program knows the layers of its model.
TEST_F(ProgramRun, LeavesAModelThatSaysWhoseItIs) {
  ASSERT_EQ(Program({"run", fleet("steps=3", "")}).wait().code, 0);
  std::ofstream(path("rows.csv")) << "a\n1\n";
  for (const char* command : {"predict", "evaluate"}) {
    const Ended ended = Program({command, path("run/model.safetensors"), path("rows.csv")}).wait();
    EXPECT_NE(ended.code, 0);
    EXPECT_NE(ended.code, 70) << ended.err;
    EXPECT_NE(ended.err.find("only the program that trained it knows its layers"),
              std::string::npos)
        << command << ended.err;
  }
}

/// `evaluate` starts the program again and gets the figures of the run's end.
TEST_F(ProgramRun, LeavesAModelThatItsProgramEvaluatesAgain) {
  const Ended trained = Program({"run", fleet("", forty), "--json"}).wait();
  ASSERT_EQ(trained.code, 0) << trained.err;
  for (const std::string& what : {path("run"), path("run/model.safetensors")}) {
    const Ended ended = Program({"evaluate", what, "--trust", "--json"}).wait();
    ASSERT_EQ(ended.code, 0) << ended.err;
    EXPECT_EQ(ended.summary()["loss"], trained.summary()["loss"]);
    EXPECT_TRUE(ended.summary()["accuracy"].is_null());
  }
  const std::string shown = Program({"evaluate", path("run"), "--trust"}).wait().output();
  EXPECT_NE(shown.find("program, 7 parameters, 40 rounds of programs"), std::string::npos) << shown;
  fleet("", "stop: { rounds: 41 }\n");
  const Ended other = Program({"evaluate", path("run"), "--trust"}).wait();
  EXPECT_EQ(other.code, 2) << "it is another fleet now: " << other.err;
}

/// `plan` trains no fleet: one program has taken some steps alone. The graph is planned as usual.
TEST_F(ProgramRun, IsPlannedByTheStepsOfOneProgram) {
  const Ended ended = Program({"plan", fleet("slow=10", forty), "--json"}).wait();
  ASSERT_EQ(ended.code, 0) << ended.err;
  const nlohmann::json plan = nlohmann::json::parse(ended.out.at(0));
  EXPECT_EQ(plan["model"], "program");
  EXPECT_EQ(plan["parameters"], 7);
  EXPECT_GE(plan["predicted"]["compute_seconds"].get<double>(), 0.01);
  EXPECT_GT(plan["gap"].get<double>(), 0);
  EXPECT_FALSE(std::filesystem::exists(path("run")));
  // The rate is unknown, so none is advised.
  for (const char* rate : {"lr", "lr_linear", "lr_square_root", "warmup_steps"})
    EXPECT_TRUE(plan["scaling"][rate].is_null()) << plan["scaling"];
  const std::string said = Program({"plan", fleet("slow=10", forty)}).wait().output();
  EXPECT_NE(said.find("rate   the program's own; if it was tuned for 32 samples, then for 96: 3"),
            std::string::npos)
      << said;
  EXPECT_EQ(said.find("train.optimizer"), std::string::npos) << said;
}

/// The program that took its steps alone had all the cores.
TEST_F(ProgramRun, IsPlannedByTheCoresThatItsPeersShare) {
  std::vector<std::string> words{"plan", fleet("slow=10", forty), "--set",
                                 "peers=[{count: 3, threads: 1024}]"};
  const std::string said = Program(words).wait().output();
  EXPECT_NE(said.find("for the cores that they share"), std::string::npos) << said;
  words.push_back("--json");
  const Ended ended = Program(words).wait();
  ASSERT_EQ(ended.code, 0) << ended.err;
  const nlohmann::json plan = nlohmann::json::parse(ended.out.at(0));
  EXPECT_GE(plan["predicted"]["compute_seconds"].get<double>(),
            0.01 * 3 * 1024 / std::max(1U, std::thread::hardware_concurrency()));
}

TEST_F(ProgramRun, HasTheSpeedOfEachProgramMeasured) {
  const Ended ended = Program({"bench", "speeds", fleet("slow=10", forty), "--json"}).wait();
  ASSERT_EQ(ended.code, 0) << ended.err;
  const nlohmann::json rows = ended.summary()["rows"];
  ASSERT_EQ(rows.size(), 3U);
  for (const nlohmann::json& row : rows) {
    EXPECT_GT(row["samples_per_second"].get<double>(), 0);
    EXPECT_LE(row["samples_per_second"].get<double>(), 64 / 0.010) << "10 ms for each gradient";
    EXPECT_TRUE(row["gflops"].is_null());
  }
  EXPECT_FALSE(std::filesystem::exists(path("run")));
}

/// Peers that are started by hand find each other in a folder, or at the address of `--at`.
TEST_F(ProgramRun, IsAFleetOfProgramsStartedByHandToo) {
  const std::string file = fleet("", forty);
  const auto port = 20'000 + (::getpid() * 3) % 9'000;
  for (const std::vector<std::string>& where : std::vector<std::vector<std::string>>{
           {"--meet", path("meeting")}, {"--at", fmt::format("127.0.0.1:{}", port)}}) {
    std::vector<std::unique_ptr<Program>> peers;
    for (int id = 0; id < 3; ++id) {
      std::vector<std::string> words{"peer", file, "--id", std::to_string(id)};
      words.insert(words.end(), where.begin(), where.end());
      peers.push_back(std::make_unique<Program>(words));
    }
    for (const auto& peer : peers) {
      const Ended ended = peer->wait();
      EXPECT_EQ(ended.code, 0) << where[0] << "\n" << ended.err;
    }
  }
}

/// If servers take the steps, they use the rate of the file.
TEST_F(ProgramRun, IsAdvisedOfTheRateOfItsServers) {
  const std::string file =
      fleet("", "train: { optimizer: { kind: sgd, lr: 0.25 } }\nalgorithm: parameter-server\n" +
                    std::string(forty));
  const Ended ended = Program({"plan", file, "--json"}).wait();
  ASSERT_EQ(ended.code, 0) << ended.err;
  EXPECT_EQ(nlohmann::json::parse(ended.out.at(0))["scaling"]["lr"], 0.25);
}

/// Servers hold parts of a model that only programs know.
TEST_F(ProgramRun, TrainsByEveryRowThatCanTakePrograms) {
  for (const AlgorithmRow* row : algorithms()) {
    const std::string order = row->order.empty() ? "" : fmt::format(", order: {}", row->order);
    std::string graph = "{ kind: ring, weights: lazy }";
    if (row->kind == "relay-sgd") graph = "star";
    if (row->kind == "sgp") graph = "exponential";
    if (row->kind == "robust-gossip") graph = "complete";
    const std::string file =
        fleet("", fmt::format("stop: {{ rounds: 8 }}\nalgorithm: {{ kind: {}{} }}\n{}", row->kind,
                              order, row->kind == "fedavg" ? "data: { samples: 96 }\n" : ""));
    const Ended ended =
        Program({"run", file, "--json", "--set", "peers=4", "--set", "topology=" + graph}).wait();
    const bool refused = row->kind == "flexrr" || row->kind == "hogwild" || row->kind == "scaffold";
    EXPECT_EQ(ended.code, refused ? 2 : 0) << row->kind << " " << row->order << "\n" << ended.err;
    if (refused || ended.code != 0) continue;
    EXPECT_FALSE(ended.summary()["loss"].is_null()) << row->kind;
  }
}

}  // namespace
}  // namespace gv
