#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "optim/train/replica.h"
#include "peer/fleet/fleet.h"

namespace gv {

/// The device of a replica: the CPU or a CUDA device.
struct Device {
  bool cuda = false;
  int number = 0;  ///< index of the CUDA device
  /// Sleeps while it waits for the device, which frees the core; spinning would see the end sooner.
  bool sleeps = false;

  bool operator==(const Device&) const = default;
};

std::string to_string(const Device& device);  ///< "cpu", "cuda:0"

/// The place of a peer among the peers of its machine.
struct AmongPeers {
  std::size_t place = 0;  ///< number of earlier peers without a device number
  std::size_t peers = 1;  ///< all peers of the machine, on any device
};
AmongPeers among_peers(const Fleet& fleet, PeerId i);

/// The devices and cores that a machine has.
struct MachineParts {
  std::size_t devices = 0;  ///< CUDA devices
  unsigned cores = 1;
};

/// Returns the device that a fleet file's word means for a peer. `cuda` spreads peers evenly over
/// the CUDA devices; so does `auto` if there is one, else it is the CPU. Peers sleep in waits for a
/// device if they are more than half as many as cores. Throws std::runtime_error if CUDA is
/// missing.
Device choose_device(const std::string& word, const AmongPeers& among, const MachineParts& here);
/// Returns the device of peer i on this machine.
Device device_of(const Fleet& fleet, PeerId i);

/// Checks before the start whether this machine has the peers' devices; throws std::runtime_error
/// with a remedy if not. Returns notes for the user: that `auto` means the CPU.
std::vector<std::string> check_devices(const Fleet& fleet, const std::vector<PeerId>& peers);

/// The parts of a replica, on any device.
struct ReplicaParts {
  ModelSpec model;
  Share share;                                            ///< without data for the quadratic
  std::function<std::unique_ptr<Objective>()> objective;  ///< for the CPU
  OptimizerSpec optimizer;
  std::uint32_t batch = 1;
  Rng init;
  std::vector<float> start{};             ///< first x; empty to draw it by `init`
  Precision precision = Precision::fp32;  ///< for CUDA
};

/// The one place that decides between the CPU and CUDA.
std::unique_ptr<Replica> make_replica(const Device& device, const ReplicaParts& parts);

}  // namespace gv
