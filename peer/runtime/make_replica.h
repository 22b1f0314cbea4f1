#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "optim/train/replica.h"
#include "peer/fleet/fleet.h"

namespace gv {

/// Where a replica computes.
struct Device {
  bool cuda = false;
  int number = 0;  ///< of the CUDA device

  bool operator==(const Device&) const = default;
};

std::string to_string(const Device& device);  ///< "cpu", "cuda:0"

/// What a fleet file's word means on this machine: `auto` is CUDA device 0 where there is one, else
/// the CPU. Throws std::runtime_error when CUDA is asked for by name and not there.
Device choose_device(const std::string& word);
/// The same with the answer to "is CUDA here?" given.
Device choose_device(const std::string& word, bool cuda_here);

/// Before anything is started: the devices of these peers must be here, or std::runtime_error says
/// what to do. Returns what the user should know: that `auto` means the CPU.
std::vector<std::string> check_devices(const Fleet& fleet, const std::vector<PeerId>& peers);

/// What a replica is made of, on whichever device.
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
