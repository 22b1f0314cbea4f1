#pragma once

#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "gossip/seam/message.h"
#include "tests/peer/launch/program.h"
#include "tests/scratch_folder.h"

namespace gv {

/// The program, run as a user would, in a folder of its own.
class Launch : public testing::Test {
 protected:
  /// Writes a fleet of quadratics that ends after `rounds`, or never by itself if `rounds` is 0.
  std::string fleet(PeerId peers, std::uint64_t rounds, const std::string& more = "") const {
    const std::string path = (folder_ / "fleet.yaml").string();
    std::ofstream(path) << "version: 1\nname: test\nseed: 5\npeers: " << peers
                        << "\ndata: { kind: quadratic, dimension: 8, noise: 1, spread: 1 }\n"
                           "model: quadratic\n"
                           "train: { optimizer: { kind: sgd, lr: 0.05 } }\n"
                           "topology: ring\n"
                        << (rounds > 0 ? fmt::format("stop: {{ rounds: {} }}\n", rounds)
                                       : "stop: { time: 1 h }\nevaluate: { every: 500 rounds }\n")
                        << more << "output: { dir: " << (folder_ / "run").string() << " }\n";
    return path;
  }

  /// Waits for the first evaluation.
  bool trains() const {
    return comes_true([this] {
      std::error_code none_yet;
      return std::filesystem::file_size(folder_ / "run/metrics.jsonl", none_yet) > 0 && !none_yet;
    });
  }

  std::string path(const std::string& name) const { return (folder_ / name).string(); }

  /// Returns the process of a peer that trains. Never 0, because killing process 0 would kill the
  /// tests.
  pid_t pid_of(PeerId peer) const {
    pid_t pid = 0;
    std::ifstream(folder_ / fmt::format("run/peers/{:03}/pid", peer)) >> pid;
    if (pid <= 0) throw std::runtime_error(fmt::format("peer {} has no pid", peer));
    return pid;
  }

  std::vector<pid_t> peer_pids() const {
    std::vector<pid_t> pids;
    if (!std::filesystem::exists(folder_ / "run/peers")) return pids;
    for (const auto& entry : std::filesystem::directory_iterator(folder_ / "run/peers")) {
      pid_t pid = 0;
      if (std::ifstream(entry.path() / "pid") >> pid) pids.push_back(pid);
    }
    return pids;
  }

  ScratchFolder scratch_;
  std::filesystem::path folder_ = scratch_.path();
};

}  // namespace gv
