#pragma once

#include <memory>
#include <string>
#include <vector>

#include "gpu/device/cuda_error.h"
#include "optim/models/model.h"
#include "optim/precision.h"
#include "optim/train/replica.h"

namespace gv {

struct CudaDevice {
  int number = 0;
  std::string name;
  std::string capability;  ///< "9.0"
  double memory_bytes = 0;
};

/// Device of a replica, and how the host waits for it: asleep, or spinning, which notices the end
/// sooner but uses a core.
struct CudaPlace {
  CudaPlace(int number_, bool sleeps_ = false) : number(number_), sleeps(sleeps_) {}
  int number;
  bool sleeps;
};

/// The state of CUDA in this binary, on this machine.
struct CudaStatus {
  bool built = false;               ///< whether it was built with CUDA
  std::string versions;             ///< versions of CUDA and its libraries at build time
  std::string problem;              ///< why there is no usable device; empty if there is one
  std::vector<CudaDevice> devices;  ///< devices by number
};
CudaStatus cuda_status();

/// Returns whether this binary was built with CUDA and a device answers.
bool cuda_available();

/// Returns whether CUDA can train a model of this kind: the networks of
/// optim/models/network_builder.h.
bool cuda_trains(const ModelSpec& model);

/// Returns a replica on a CUDA device that starts, draws its minibatches, mixes and steps as a
/// HostReplica of the same network does. Mixing and steps are equal to the bit, gradients up to
/// rounding. Throws CudaError if there is no such device, or no room (with the bytes wanted and
/// free).
std::unique_ptr<Replica> make_cuda_replica(const NeuralNetwork& network,
                                           Share share,
                                           const OptimizerSpec& optimizer,
                                           std::uint32_t batch,
                                           Rng init,
                                           CudaPlace place,
                                           Precision precision = Precision::fp32);

}  // namespace gv
