#include <filesystem>
#include <fstream>
#include <regex>

#include "tests/peer/launch/program.h"
#include "tests/scratch_folder.h"

// Commands on fleets of agents, which have no samples.

namespace gv {
namespace {

class AgentCommands : public testing::Test {
 protected:
  AgentCommands() {
    std::ofstream(fleet()) << "version: 1\npeers: 2\nmodel: { kind: mlp, hidden: [8] }\n"
                              "data: { kind: environment, name: cartpole }\n"
                              "agent: { warm_up: 32 }\nstop: { rounds: 20 }\n"
                              "evaluate: { every: 10 rounds }\noutput: { dir: "
                           << path("run") << " }\n";
  }

  std::string path(const std::string& name) const { return folder_.path() + "/" + name; }
  std::string fleet() const { return path("fleet.yaml"); }

  ScratchFolder folder_;
};

/// The refusal names another way, and that way works.
TEST_F(AgentCommands, ASavedModelIsLookedAtInItsEnvironment) {
  const Ended trained = run({"simulate", fleet(), "--json"});
  ASSERT_EQ(trained.code, 0) << trained.err;
  const std::string model = path("run/model.safetensors");
  std::ofstream(path("rows.csv")) << "a,b,c,d\n0,0,0,0\n";
  for (const std::vector<std::string>& command :
       {std::vector<std::string>{"evaluate", path("run")},
        {"evaluate", model, path("rows.csv")},
        {"predict", model, path("rows.csv")},
        {"export", path("run"), "--onnx", path("model.onnx")}}) {
    const Ended refused = run(command);
    EXPECT_NE(refused.code, 0) << command.front();
    EXPECT_NE(refused.err.find("simulate a fleet that begins with it, `model: { start: FILE }`"),
              std::string::npos)
        << command.front() << ": " << refused.output();
  }
  const Ended looked = run({"simulate", fleet(), "--no-save", "--json", "--set", "stop.rounds=1",
                            "--set", "model={ kind: mlp, hidden: [8], start: " + model + " }"});
  ASSERT_EQ(looked.code, 0) << looked.err;
  // The first round learns nothing, because its memory is too short. The model stays the same.
  EXPECT_EQ(looked.summary().at("return"), trained.summary().at("return"));
}

TEST_F(AgentCommands, ACalibrationSaysWhyItPredictsNoReturn) {
  const Ended ended = run({"plan", fleet(), "--calibrate", "--json"});
  ASSERT_EQ(ended.code, 0) << ended.err;
  EXPECT_EQ(ended.summary().at("not_predicted"),
            "an agent's loss changes with what it has seen: `simulate` measures its rounds");
}

TEST_F(AgentCommands, BenchesOfSamplesRefuseThem) {
  for (const char* bench : {"device", "speeds"}) {
    const Ended refused = run({"bench", bench, fleet()});
    EXPECT_EQ(refused.code, 2) << refused.output();
    EXPECT_NE(refused.err.find("an agent has no samples to be counted"), std::string::npos);
  }
}

TEST_F(AgentCommands, TheirDataIsTheEnvironment) {
  const std::string said = run({"data", fleet()}).output();
  EXPECT_NE(said.find("4 numbers are seen, 2 actions, 500 steps at the most, solved at 475"),
            std::string::npos)
      << said;
}

TEST_F(AgentCommands, ASweepGoesForAReturn) {
  const std::string sweep = path("sweep.yaml");
  std::ofstream(sweep) << "version: 1\nbase: fleet.yaml\nvary: { agent.steps: [1, 2] }\n"
                          "target: { return: 5 }\noutput: { dir: "
                       << path("swept") << " }\n";
  const Ended swept = run({"sweep", sweep});
  ASSERT_EQ(swept.code, 0) << swept.output();
  const Ended compared = run({"compare", path("swept"), "--json"});
  ASSERT_EQ(compared.code, 0) << compared.err;
  const auto target = compared.summary().at("target");
  EXPECT_EQ(target.at("figure"), "return");
  EXPECT_EQ(target.at("value"), 5);
  const Ended page = run({"report", path("swept"), "-o", path("page.html")});
  ASSERT_EQ(page.code, 0) << page.output();
}

}  // namespace
}  // namespace gv
