#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace gv {

struct AgentBenchOptions {
  std::string environment = "cartpole";
  std::uint32_t memory = 1'000'000;  ///< transitions, all of them there
  std::uint32_t batch = 64;
  double seconds = 4;  ///< how long to measure
};

struct ActingRate {
  std::uint32_t environments = 1;  ///< side by side
  double steps_per_second = 0;     ///< of all of them, median
};

struct AgentBenchReport {
  std::size_t parameters = 0;
  std::vector<ActingRate> acting{};
  double draw_seconds = 0;   ///< a prioritized minibatch, median
  double judge_seconds = 0;  ///< the same, and what it was wrong by becomes priorities
};

/// Measures what an agent does besides its gradients, on one thread: steps of its environment with
/// an MLP of 128 and 128 units, and draws from a full memory with priorities.
AgentBenchReport bench_agent(const AgentBenchOptions& options);

}  // namespace gv
