#include <gtest/gtest.h>

#include "tests/peer/fleet/fleet_file.h"
#include "tests/peer/sim/method_runs.h"

// `train.optimizer: muon` in fleets: which may use it, and that methods step by it.

namespace gv {
namespace {

Fleet fleet(const std::string& more) {
  return read(
      "version: 1\n"
      "peers: 4\n"
      "data: { kind: blobs, train: 240, test: 60, features: 6, classes: 3 }\n"
      "model: { kind: mlp, hidden: [8, 7] }\n"
      "topology: ring\n"
      "stop: { rounds: 20 }\n" +
      more);
}

Fleet by_muon(const std::string& more, int local_steps = 2) {
  return fleet("train: { batch: 8, local_steps: " + std::to_string(local_steps) +
               ", optimizer: { kind: muon, lr: 0.02 } }\n" + more);
}

TEST(MuonFleet, HasTheUsualValuesOfItsPapers) {
  const OptimizerSpec spec = fleet("train: { optimizer: muon }\n").optimizer;
  EXPECT_EQ(spec.lr, 0.001);
  EXPECT_EQ(spec.momentum, 0.95);
  EXPECT_TRUE(spec.nesterov);
  EXPECT_EQ(spec.weight_decay, 0.1);
  EXPECT_NO_THROW(fleet("train: { optimizer: { kind: muon, momentum: 0 } }\n"));
  EXPECT_THROW(fleet("train: { optimizer: { kind: muon, momentum: 0, nesterov: true } }\n"),
               FleetError);
}

/// Methods that step by the fleet's optimizer resume from any round as if uninterrupted.
TEST(MuonFleet, ResumesInMethodsThatStepByIt) {
  for (const char* algorithm : {"d-psgd", "diloco", "noloco"})
    expect_it_resumes(by_muon(std::string("algorithm: ") + algorithm + "\n"));
  expect_it_resumes(by_muon("algorithm: all-reduce\n", 1));
}

/// AdamW would give another result.
TEST(MuonFleet, StepsByItsMatrices) {
  const Result by_adamw =
      run(fleet("train: { batch: 8, local_steps: 2, optimizer: { kind: adamw, lr: 0.02, "
                "weight_decay: 0.1 } }\n"));
  EXPECT_NE(run(by_muon("")).hash, by_adamw.hash);
}

TEST(MuonFleet, IsRefusedWhereNobodyHasTheMatrices) {
  EXPECT_EQ(refusal(by_muon("")), "");
  Fleet shallow = by_muon("");
  shallow.model = {.kind = "softmax"};
  EXPECT_NE(refusal(shallow).find("model `softmax` has none"), std::string::npos);
  EXPECT_NE(refusal(by_muon("algorithm: parameter-server\n", 1)).find("a server has a part"),
            std::string::npos);
  EXPECT_NE(refusal(by_muon("algorithm: fedavg\n", 1)).find("a server has a part"),
            std::string::npos);
  EXPECT_NE(refusal(by_muon("parallel: { stages: 2 }\n")).find("a stage has some of them"),
            std::string::npos);
  EXPECT_NE(refusal(fleet("train: { device: cuda, optimizer: muon }\n")).find("on the CPU only"),
            std::string::npos);
  Fleet quadratic = quadratic_fleet(4, "ring", "d-psgd", "lian");
  quadratic.optimizer.kind = "muon";
  EXPECT_NE(refusal(quadratic).find("take `kind: adamw`"), std::string::npos);
}

}  // namespace
}  // namespace gv
