#pragma once

#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "peer/fleet/json/json.h"

namespace gv {

/// The folder of a run as `run` and `simulate` leave it, with figures that a test chooses.
struct FolderOfRun {
  std::string algorithm = "d-psgd";
  std::string kind = "simulate";
  std::uint64_t seed = 1;
  std::map<std::string, std::string> keys = {{"topology.kind", "ring"}};
  double seconds_per_round = 0.1;
  double accuracy_per_round = 0.01;  ///< growth per round, up to 1
  std::uint64_t every = 10;
  std::uint64_t rounds = 100;
  std::string began = "2026-01-01T00:00:00Z";
  /// True for agents: the return is 5 times the accuracy in percent, and 4 peers act twice a round.
  bool agents = false;

  Json about() const {
    Json json{{"schema", "grapevine.run/2"},
              {"kind", kind},
              {"name", "test"},
              {"version", "grapevine test"},
              {"began", began},
              {"seed", seed},
              {"peers", 4},
              {"algorithm", algorithm},
              {"order", ""},
              {"topology", "ring"},
              {"model", "mlp"},
              {"data", "digits"},
              {"parameters", 100},
              {"rounds", rounds},
              {"digest", "00"},
              {"bits", "00"}};
    Json& all = json["keys"] = Json::object();
    all.add("seed", std::to_string(seed));
    for (const auto& [key, value] : keys) all.add(key, value);
    json["machine"] = {{"processor", "test"}, {"cores", 2}, {"memory_bytes", 1}};
    return json;
  }

  std::string figures(std::uint64_t round) const {
    const double accuracy = std::min(1.0, accuracy_per_round * static_cast<double>(round));
    if (agents) return figures_of_agents(round, 500 * accuracy);
    return fmt::format(
        R"("seconds":{},"peers":4,"loss":{},"loss_local":1,"accuracy":{},"accuracy_min":{},)"
        R"("accuracy_max":{},"consensus":0.5,"sent_bytes":{})",
        seconds_per_round * static_cast<double>(round), 1.1 - accuracy, accuracy, accuracy / 2,
        accuracy, 1000 * round);
  }

  std::string figures_of_agents(std::uint64_t round, double mean_return) const {
    return fmt::format(
        R"("seconds":{},"peers":4,"loss":{},"loss_local":{},"accuracy":null,"accuracy_min":null,)"
        R"("accuracy_max":null,"consensus":0.5,"sent_bytes":{},"return":{},"return_local":{},)"
        R"("frames":{})",
        seconds_per_round * static_cast<double>(round), -mean_return, -0.5 * mean_return,
        1000 * round, mean_return, 0.5 * mean_return, 8 * round);
  }

  void write(const std::string& path) const {
    std::filesystem::create_directories(path);
    std::ofstream(path + "/run.json") << about().dump(2) << "\n";
    std::ofstream metrics(path + "/metrics.jsonl");
    for (std::uint64_t round = every; round <= rounds; round += every)
      metrics << R"({"event":"evaluate","round":)" << round << R"(,"train_loss":1,)"
              << figures(round) << "}\n";
    const std::string summary = fmt::format(
        R"({{"event":"summary","rounds":{},"lost":0,{},"exit_code":0}})", rounds, figures(rounds));
    metrics << summary << "\n";
    std::ofstream(path + "/summary.json") << summary << "\n";
  }
};

}  // namespace gv
