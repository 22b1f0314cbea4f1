#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "peer/report/observer.h"
#include "peer/runtime/assembly.h"

namespace gv {

struct SimulationOptions {
  int threads = 0;  ///< for the gradients of one instant; 0: all cores. Changes no bit
  std::function<bool()> interrupted;  ///< polled; true: every peer stops after its round
  std::function<void(Step round, Time virtual_time)> on_progress;  ///< now and then, from the loop
};

struct SimulationResult {
  Time virtual_time{0};
  std::uint64_t events = 0;
  bool interrupted = false;
};

/// Runs the whole fleet in virtual time, with the same algorithm code as over TCP, and bit for bit
/// the same replicas.
SimulationResult simulate(const Assembly& fleet,
                          Observer& observer,
                          const SimulationOptions& options);

}  // namespace gv
