#pragma once

#include "gpu/cuda_replica.h"

namespace gv::gpu {

/// The functions that libgv_cuda.so gives: everything that needs CUDA's libraries. It is loaded
/// when a device is first asked for, so that a peer on the CPU neither waits for 700 MB of
/// libraries (80 ms, 200 MB of memory) nor needs them installed.
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
