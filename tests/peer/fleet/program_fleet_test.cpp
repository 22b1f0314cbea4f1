#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "gossip/algorithm.h"
#include "peer/fleet/digest.h"
#include "peer/fleet/read/sections.h"
#include "tests/peer/fleet/fleet_file.h"

// `program:` instead of model, data and optimizer.

namespace gv {
namespace {

const std::string program =
    "version: 1\npeers: 4\nprogram: [python3, train.py, --lr, \"1e-3\"]\ntopology: ring\n";

std::string messages(const std::string& text) {
  std::string all;
  for (const Diagnostic& d : problems(text))
    all += d.where + "\n" + d.source + d.message + "\n" + d.help + "\n";
  return all;
}

TEST(ProgramFleet, IsReadAndSaysItselfWhenItIsDone) {
  const Fleet fleet = read(program);
  ASSERT_TRUE(fleet.program);
  EXPECT_EQ(fleet.program->command,
            (std::vector<std::string>{"python3", "train.py", "--lr", "1e-3"}));
  EXPECT_EQ(fleet.model.kind, "program");
  EXPECT_EQ(fleet.data.kind, "program");
  EXPECT_FALSE(fleet.stop.rounds);
  EXPECT_EQ(fleet.peers.size(), 4U);
}

TEST(ProgramFleet, MayBringItsEnvironment) {
  const Fleet fleet =
      read("version: 1\npeers: 2\nprogram: { command: [./train], env: { DEPTH: 3, NAME: a b } }\n");
  EXPECT_EQ(fleet.program->env,
            (std::map<std::string, std::string>{{"DEPTH", "3"}, {"NAME", "a b"}}));
}

TEST(ProgramFleet, SaysHowManySamplesThereAre) {
  const Fleet fleet = read(program + "data: { samples: 60000, partition: { kind: dirichlet } }\n" +
                           "stop: { epochs: 2 }\nevaluate: { every: 1 epoch, device: cuda }\n");
  EXPECT_EQ(fleet.data.train, 60000U);
  EXPECT_EQ(fleet.data.partition.kind, "dirichlet");
  EXPECT_EQ(fleet.evaluate_device, "cuda");
}

/// The error shows both lines and which one to remove.
TEST(ProgramFleet, RefusesWhatTheProgramBrings) {
  const std::vector<std::pair<std::string, std::string>> lines{
      {"model: mlp", "`model` cannot be combined with `program`: the program has its own model"},
      {"model: { kind: mlp }", "`model` cannot be combined with"},
      {"data: digits", "`data` cannot be combined with"},
      {"data: { kind: digits }", "`data.kind` cannot be combined with"},
      {"data: { servers: 1 }", "`data.servers` cannot be combined with"},
      {"train: { optimizer: { lr: 1 } }", "`train.optimizer` cannot be combined with"},
      {"train: { class_weights: balanced }", "`train.class_weights` cannot be combined with"},
      {"train: { peer_weights: samples }", "`train.peer_weights` cannot be combined with"},
      {"attackers: { count: 1, kind: gradient-flip }", "an attack by false gradients"}};
  for (const auto& [line, says] : lines) {
    const std::string text = messages(program + line + "\n");
    EXPECT_NE(text.find(says), std::string::npos) << line << "\n" << text;
    EXPECT_NE(text.find("| program: [python3, train.py"), std::string::npos) << text;
    EXPECT_NE(text.find("| " + line), std::string::npos) << text;
    EXPECT_NE(text.find(", or `program` if this is to train"), std::string::npos) << text;
    EXPECT_EQ(problems(program + line + "\n").size(), 1U) << text;
  }
}

/// The file gives the optimizer with which servers step.
TEST(ProgramFleet, KeepsTheOptimizerOfServers) {
  for (const AlgorithmRow* row : algorithms()) {
    const std::string order = row->order.empty() ? "" : fmt::format(", order: {}", row->order);
    const std::string text = messages(program + "train: { optimizer: { lr: 0.5 } }\nalgorithm: { " +
                                      fmt::format("kind: {}{} }}\n", row->kind, order));
    const bool refused =
        text.find("`train.optimizer` cannot be combined with") != std::string::npos;
    EXPECT_EQ(refused, row->servers == nullptr) << row->kind << "\n" << text;
  }
}

TEST(ProgramFleet, RefusesMethodsThatAProgramCannotFollow) {
  for (const char* kind : {"flexrr", "hogwild", "scaffold"}) {
    const std::string text = messages(program + fmt::format("algorithm: {}\n", kind));
    EXPECT_NE(text.find(fmt::format("{}: its ", kind)), std::string::npos) << text;
    EXPECT_NE(text.find(": take `"), std::string::npos) << text;
    EXPECT_EQ(problems(program + fmt::format("algorithm: {}\n", kind)).size(), 1U) << text;
  }
}

TEST(ProgramFleet, RefusesEpochsOfSamplesThatNobodyHasCounted) {
  for (const char* line : {"stop: { epochs: 3 }\n", "evaluate: { every: 1 epoch }\n"})
    EXPECT_NE(messages(program + line).find("data: { samples: 60000 }"), std::string::npos) << line;
}

TEST(ProgramFleet, RefusesWordsThatAreNoCommand) {
  for (const char* line :
       {"program: python3 train.py\n", "program: []\n", "program: { env: { A: b } }\n",
        "program: [\"\"]\n", "program: [[a]]\n", "program: { command: [a], env: { 1A: b } }\n",
        "program: { command: [a], env: { GRAPEVINE_TASK: ask } }\n",
        "program: { command: [a], env: [b] }\n", "program:\n"})
    EXPECT_FALSE(
        problems("version: 1\npeers: 2\nstop: { rounds: 1 }\n" + std::string(line)).empty())
        << line;
}

TEST(ProgramFleet, IsAnotherFleetWithOtherWords) {
  const auto digest = [](const std::string& line) {
    return read("version: 1\npeers: 2\nprogram: " + line + "\n").digest;
  };
  EXPECT_EQ(digest("[a, b]"), digest("{ command: [a, b] }"));
  EXPECT_NE(digest("[a, b]"), digest("[a, c]"));
  EXPECT_NE(digest("[ab]"), digest("[a, b]"));
  EXPECT_NE(digest("{ command: [a], env: { X: \"1\" } }"),
            digest("{ command: [a], env: { X: \"2\" } }"));
}

TEST(ProgramFleet, IsNamedWithItsLine) {
  const std::string text = about_program(read(program), "there is no program `python9`", "install");
  EXPECT_NE(text.find("fleet.yaml:3:1"), std::string::npos) << text;
  EXPECT_NE(text.find("program: [python3, train.py"), std::string::npos) << text;
}

}  // namespace
}  // namespace gv
