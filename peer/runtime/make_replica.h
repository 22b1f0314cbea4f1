#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "optim/train/replica.h"
#include "peer/fleet/fleet.h"

namespace gv {

/// The place where a replica computes: the CPU or a CUDA device.
struct Device {
  bool cuda = false;
  int number = 0;  ///< of the CUDA device
  /// It is waited for asleep, so that others have the core meanwhile; else its end is seen sooner.
  bool sleeps = false;

  bool operator==(const Device&) const = default;
};

std::string to_string(const Device& device);  ///< "cpu", "cuda:0"

/// A peer among those of its machine.
struct AmongPeers {
  std::size_t place = 0;  ///< before it are so many whose word names no device's number either
  std::size_t peers = 1;  ///< on the machine, on whatever device
};
AmongPeers among_peers(const Fleet& fleet, PeerId i);

/// The devices and cores that a machine has.
struct MachineParts {
  std::size_t devices = 0;  ///< of CUDA
  unsigned cores = 1;
};

/// Returns what a fleet file's word means to a peer: `cuda` is one of the CUDA devices, so that
/// peers are spread evenly over them, and `auto` the same where there is one, else the CPU. Peers
/// wait for a device asleep where there are more than half as many of them as cores. Throws
/// std::runtime_error when CUDA is asked for by name and not there.
Device choose_device(const std::string& word, const AmongPeers& among, const MachineParts& here);
/// Does the same for peer i, on this machine.
Device device_of(const Fleet& fleet, PeerId i);

/// Checks before anything starts: the devices of these peers must be here, or std::runtime_error
/// says what to do. Returns what the user should know: that `auto` means the CPU.
std::vector<std::string> check_devices(const Fleet& fleet, const std::vector<PeerId>& peers);

/// The things that a replica is made of, on whichever device.
struct ReplicaParts {
  ModelSpec model;
  Share share;                                            ///< without data for the quadratic
  std::function<std::unique_ptr<Objective>()> objective;  ///< the same on the CPU
  OptimizerSpec optimizer;
  std::uint32_t batch = 1;
  Rng init;
  std::vector<float> start{};             ///< what x begins with; none: what is drawn by `init`
  Precision precision = Precision::fp32;  ///< on CUDA
};

/// The one place that decides between the CPU and CUDA.
std::unique_ptr<Replica> make_replica(const Device& device, const ReplicaParts& parts);

}  // namespace gv
