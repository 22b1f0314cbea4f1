#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "peer/launch/place.h"
#include "peer/runtime/assembly.h"

namespace gv {

// How fast the peers of a fleet compute, each on its own device, with its own threads and batch,
// and all of them at once: what shares a machine in training shares it here. Nothing is sent, and
// data and model are the fleet's.

struct PeerSpeed {
  PeerId peer = 0;
  std::string device{};           ///< "cpu", "cuda:0"
  std::uint32_t batch = 0;        ///< samples
  double samples_per_second = 0;  ///< of gradients and optimizer steps
  double flops = 0;               ///< per second, as the simulator counts them; of the gradient
};

struct PeerSpeedOptions {
  double seconds = 1;  ///< that each peer measures
  std::function<void(const std::string&)> on_progress{};
  std::function<void(const std::string&)> say{};  ///< what peers and machines have to say
};

/// Starts the peers that train, waits until all have their data, has them measure at the same time,
/// and ends them. Throws std::runtime_error with the peer and its last words when one ends before.
std::vector<PeerSpeed> measure_speeds(const Assembly& fleet,
                                      Places& places,
                                      const PeerSpeedOptions& options);

/// The other end: one peer, started with `--measure`, that says it is ready, measures for so long
/// when it is told to, and says what (control.h). Returns the exit code.
int run_measured_peer(const Assembly& fleet, PeerId id, double seconds);

}  // namespace gv
