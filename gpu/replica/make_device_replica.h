#pragma once

#include "gpu/cuda_replica.h"

namespace gv::gpu {

/// Makes the replica inside the plugin, after gv::make_cuda_replica has checked the arguments.
std::unique_ptr<Replica> make_replica(const NeuralNetwork& network,
                                      Share share,
                                      const OptimizerSpec& optimizer,
                                      std::uint32_t batch,
                                      Rng init,
                                      CudaPlace place,
                                      Precision precision);

/// Returns page-locked host memory, allocated by this device.
std::shared_ptr<BufferMemory> pinned_memory(int device);

}  // namespace gv::gpu
