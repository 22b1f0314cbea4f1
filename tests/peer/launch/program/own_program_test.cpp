#include "peer/launch/program/own_program.h"

#include <fstream>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "peer/launch/process/process.h"
#include "tests/peer/launch/program.h"
#include "tests/places.h"
#include "tests/scratch_folder.h"

// `grapevine peer` becomes the program of its fleet.

namespace gv {
namespace {

class AnOwnProgram : public testing::Test {
 protected:
  std::string path(const std::string& name) const { return folder_.path() + "/" + name; }
  /// Writes a fleet whose program is this shell script.
  std::string fleet(const std::string& script, const std::string& more = "") const {
    std::ofstream(path("train.sh")) << script;
    std::ofstream(path("fleet.yaml"))
        << "version: 1\npeers: 3\nprogram: [sh, " << path("train.sh") << ", \"a b\"]\n"
        << "output: { dir: " << path("run") << " }\n"
        << more;
    return path("fleet.yaml");
  }
  ScratchFolder folder_;
};

TEST_F(AnOwnProgram, IsTheSameProcessWithTheWordsOfTheFile) {
  Program peer({"peer", fleet("echo \"$1\" $$\nexit 7\n"), "--id", "1"});
  const pid_t pid = peer.pid();
  const Ended ended = peer.wait();
  EXPECT_EQ(ended.code, 7);
  EXPECT_EQ(ended.output(), fmt::format("a b {}\n", pid));
}

TEST_F(AnOwnProgram, KnowsWhichPeerOfWhichFleetItIs) {
  const std::string file = fleet(
      "echo \"$GRAPEVINE_PEER\"\necho $GRAPEVINE_TASK\necho $GRAPEVINE_FLEET\n"
      "echo $OMP_NUM_THREADS\n");
  const Ended ended =
      Program({"peer", file, "--id", "2", "--set", "seed=9", "--rejoin", "--wait", "3"}).wait();
  ASSERT_EQ(ended.out.size(), 4U) << ended.err;
  const nlohmann::json word = nlohmann::json::parse(ended.out[0]);
  EXPECT_EQ(word["format"], "grapevine.peer/1");
  EXPECT_EQ(word["fleet"], file);
  EXPECT_EQ(word["id"], 2);
  EXPECT_EQ(word["sets"], nlohmann::json::array({"seed=9"}));
  EXPECT_EQ(word["folder"], path("run/peers/002"));
  EXPECT_EQ(word["rejoin"], true);
  EXPECT_EQ(word["wait"], 3);
  EXPECT_EQ(word["control"], false);
  EXPECT_EQ(word["start"], nullptr);
  EXPECT_EQ(ended.out[1], "peer");
  EXPECT_EQ(ended.out[2], file);
  EXPECT_EQ(ended.out[3], "1");
}

/// The launcher's streams are on descriptors that no program reads or prints to.
TEST_F(AnOwnProgram, HasItsStreamsToItselfWhereALauncherStartedIt) {
  const std::string file = fleet(
      "read nothing || echo end\n"
      "read line <&4\necho heard $line >&5\necho printed\n");
  Child peer({grapevine_program(), "peer", file, "--id", "0", "--launched", path("p")});
  peer.tell("a word");
  std::vector<std::string> out, err;
  hear_out(
      peer, [&](const std::string& line) { out.push_back(line); },
      [&](const std::string& line) { err.push_back(line); });
  EXPECT_EQ(out, std::vector<std::string>{"heard a word"});
  EXPECT_EQ(err, (std::vector<std::string>{"end", "printed"}));
}

TEST_F(AnOwnProgram, SeesTheDeviceOfItsPeerAlone) {
  Fleet file = read_fleet(fleet(""), {}, nullptr);
  OwnProgram own{.file = file.path, .id = 1};
  EXPECT_FALSE(program_environment(file, own).contains("CUDA_VISIBLE_DEVICES"));
  file.peers[1].device = "cuda:3";
  file.peers[1].threads = 4;
  EXPECT_EQ(program_environment(file, own).at("CUDA_VISIBLE_DEVICES"), "3");
  EXPECT_EQ(program_environment(file, own).at("OMP_NUM_THREADS"), "4");
  own.task = "ask";
  file.evaluate_device = "cuda:1";
  EXPECT_EQ(program_environment(file, own).at("CUDA_VISIBLE_DEVICES"), "1");
  file.program->env["OMP_NUM_THREADS"] = "7";
  EXPECT_EQ(program_environment(file, own).at("OMP_NUM_THREADS"), "7");
}

/// Scripts and libraries may read the variables that torchrun sets.
TEST_F(AnOwnProgram, MayBeToldAsTorchrunDoes) {
  std::ofstream(path("fleet.yaml"))
      << "version: 1\nhosts: { anna: { address: 10.0.0.7 }, ben: { address: 10.0.0.8 } }\n"
      << "peers: [{ host: anna }, { host: ben, count: 2 }]\n"
      << "program: { command: [sh], env: torchrun }\n";
  const Fleet file = read_fleet(path("fleet.yaml"), {}, nullptr);
  OwnProgram own{.file = file.path, .id = 2};
  const std::map<std::string, std::string> two = program_environment(file, own);
  EXPECT_EQ(two.at("RANK"), "2");
  EXPECT_EQ(two.at("WORLD_SIZE"), "3");
  EXPECT_EQ(two.at("LOCAL_RANK"), "1");
  EXPECT_EQ(two.at("LOCAL_WORLD_SIZE"), "2");
  EXPECT_EQ(two.at("MASTER_ADDR"), "10.0.0.7");
  own.id = 0;
  EXPECT_EQ(program_environment(file, own).at("MASTER_PORT"), two.at("MASTER_PORT"));
  // A program that runs alone must not wait for others.
  own.task = "ask";
  const std::map<std::string, std::string> asked = program_environment(file, own);
  EXPECT_EQ(asked.at("WORLD_SIZE"), "1");
  EXPECT_EQ(asked.at("MASTER_ADDR"), "127.0.0.1");
  EXPECT_NE(asked.at("MASTER_PORT"), two.at("MASTER_PORT"));
}

TEST_F(AnOwnProgram, RunsInTheFolderOfItsHost) {
  const std::string file =
      fleet("pwd\n", fmt::format("hosts: {{ localhost: {{ folder: {} }} }}\n", folder_.path()));
  EXPECT_EQ(Program({"peer", file, "--id", "0"}).wait().output(), folder_.path() + "\n");
}

/// The missing program is named before a run's folder or a neighbour is needed.
TEST_F(AnOwnProgram, ThatIsNotThereIsNamedWithItsLine) {
  std::ofstream(path("fleet.yaml")) << "version: 1\npeers: 2\nprogram: [no-such-python, t.py]\n";
  const Ended ended = Program({"peer", path("fleet.yaml"), "--id", "0"}).wait();
  EXPECT_EQ(ended.code, 5);
  EXPECT_NE(ended.err.find("fleet.yaml:3:1"), std::string::npos) << ended.err;
  EXPECT_NE(ended.err.find("no-such-python"), std::string::npos) << ended.err;
}

/// Only the program has its gradients.
TEST_F(AnOwnProgram, IsNotWhatASimulatorOrABenchCanRun) {
  const std::string file = fleet("");
  for (const std::vector<std::string>& command : std::vector<std::vector<std::string>>{
           {"simulate", file}, {"data", file}, {"bench", "device", file}}) {
    const Ended ended = Program(command).wait();
    EXPECT_EQ(ended.code, 2) << command.front();
    EXPECT_NE(ended.err.find("its gradients are the program's"), std::string::npos) << ended.err;
    EXPECT_NE(ended.err.find("fleet.yaml:3:1"), std::string::npos) << ended.err;
  }
}

}  // namespace
}  // namespace gv
