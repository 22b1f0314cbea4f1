#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "optim/host/host_network.h"
#include "optim/rl/agent_spec.h"
#include "optim/rl/environments.h"
#include "optim/rl/n_step.h"

namespace gv {

/// Environments side by side, in which one network acts: all of them take a step together, and an
/// episode that ended is followed by the next.
class Acting {
 public:
  Acting(const EnvironmentRow& row,
         const AgentSpec& spec,
         const NeuralNetwork& network,
         Rng starts,
         Rng explore);
  /// One step of each, with x, and with any action at this probability; calls `take` for each
  /// transition that is complete.
  void step(std::span<const float> x, double explore, const TakeTransition& take);

  void save(StateWriter& out) const;
  /// Throws std::runtime_error for what an equally made one did not save.
  void restore(StateReader& in);

 private:
  std::span<float> seen(std::size_t k) { return std::span(seen_).subspan(k * numbers_, numbers_); }

  const EnvironmentRow& row_;
  std::size_t numbers_;
  HostNetwork network_;
  Rng starts_, explore_;
  std::vector<std::unique_ptr<Environment>> environments_;
  std::vector<NStep> horizons_;
  std::vector<float> seen_;  ///< [environment][numbers]
  std::vector<float> next_;
};

/// Mean return of greedy episodes from starts that are always the same, all side by side.
class GreedyPlay {
 public:
  GreedyPlay(const EnvironmentRow& row, const NeuralNetwork& network, const Rng& starts);
  double mean_return(std::span<const float> x);

 private:
  const EnvironmentRow& row_;
  std::uint32_t actions_;
  HostNetwork network_;
  Rng starts_;
};

}  // namespace gv
