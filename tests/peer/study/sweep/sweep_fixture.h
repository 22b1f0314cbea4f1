#pragma once

#include <fstream>
#include <string>

#include <gtest/gtest.h>

#include "peer/study/sweep/plan/trial_plan.h"
#include "tests/scratch_folder.h"

namespace gv {

/// A folder with a small fleet file for sweeps.
class SweepFolders : public testing::Test {
 protected:
  SweepFolders() { write("base.yaml", base); }

  std::string path(const std::string& name) const { return folder_.path() + "/" + name; }
  void write(const std::string& name, const std::string& text) const {
    std::ofstream(path(name)) << text;
  }
  /// Returns the plan of a sweep with this text, whose output has a folder of its own.
  SweepPlan plan(const std::string& text) const {
    write("sweep.yaml", head() + text);
    return plan_sweep(path("sweep.yaml"));
  }
  /// Returns the error text for a sweep file with this text.
  std::string refusal(const std::string& text) const {
    try {
      plan(text);
    } catch (const FleetError& error) {
      return error.what();
    }
    return "";
  }
  std::string head() const {
    return "version: 1\nname: small\nbase: base.yaml\noutput: { dir: '" + path("out") + "' }\n";
  }
  static constexpr int head_lines = 4;

  static constexpr const char* base =
      "version: 1\n"
      "name: small\n"
      "seed: 5\n"
      "peers: 4\n"
      "data: { kind: quadratic, dimension: 16, hessian: [1, 0.2], noise: 0.1, spread: 1, start: 3 "
      "}\n"
      "model: quadratic\n"
      "train: { optimizer: { kind: sgd, lr: 0.05 } }\n"
      "algorithm: { kind: d-psgd, order: lian }\n"
      "topology: ring\n"
      "network: { latency: 1 ms, bandwidth: 1 Gbit }\n"
      "stop: { rounds: 60 }\n"
      "evaluate: { every: 5 rounds }\n";

 private:
  ScratchFolder folder_;
};

}  // namespace gv
