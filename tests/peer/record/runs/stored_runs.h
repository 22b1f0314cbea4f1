#pragma once

#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "peer/record/runs/stored_run.h"

namespace gv {

/// Returns a run in memory whose accuracy grows linearly to 1 at `rounds`.
inline StoredRun run_of(std::map<std::string, std::string> keys,
                        std::uint64_t seed,
                        double seconds_per_round,
                        std::uint64_t rounds = 100,
                        std::uint64_t every = 10) {
  StoredRun run;
  run.algorithm = keys.contains("algorithm.kind") ? keys["algorithm.kind"] : "d-psgd";
  run.path = "runs/" + run.algorithm;
  for (const auto& [key, value] : keys) run.path += "-" + value;
  run.path += "-" + std::to_string(seed);
  run.shown = run.path;
  run.simulated = true;
  run.topology = "ring";
  run.data = "digits";
  run.model = "mlp";
  run.parameters = 100;
  run.peers = 4;
  run.seed = seed;
  run.began = "2026-01-01T00:00:00Z";
  run.keys = std::move(keys);
  for (std::uint64_t round = every; round <= rounds; round += every) {
    MetricsRow e;
    e.round = round;
    e.seconds = seconds_per_round * static_cast<double>(round);
    e.sent_bytes = 1000 * static_cast<double>(round);
    e.accuracy = static_cast<double>(round) / static_cast<double>(rounds);
    e.accuracy_min = *e.accuracy;
    e.loss = 1.1 - *e.accuracy;
    run.evaluations.push_back(e);
  }
  run.rounds = rounds;
  run.seconds = run.evaluations.back().seconds;
  return run;
}

}  // namespace gv
