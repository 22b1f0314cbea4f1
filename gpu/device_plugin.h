#pragma once

#include "gpu/cuda_replica.h"

namespace gv::gpu {

/// Functions of libgv_cuda.so: everything that needs CUDA's libraries. It is loaded when a device
/// is first needed, so that a peer on the CPU neither needs these libraries nor loads them (700 MB;
/// 80 ms and 200 MB of memory).
struct Plugin {
  CudaStatus (*status)();
  std::unique_ptr<Replica> (*make_replica)(const NeuralNetwork&,
                                           Share,
                                           const OptimizerSpec&,
                                           std::uint32_t batch,
                                           Rng init,
                                           CudaPlace place,
                                           Precision);
};

inline constexpr const char* plugin_file = "libgv_cuda.so";
inline constexpr const char* plugin_symbol = "gv_cuda_plugin";

}  // namespace gv::gpu

/// The plugin's only exported symbol.
extern "C" __attribute__((visibility("default"))) const gv::gpu::Plugin* gv_cuda_plugin();
