#include "gpu/device_plugin.h"

#include <string>

#include "gpu/device/device_memory.h"
#include "gpu/replica/make_device_replica.h"

namespace gv::gpu {
namespace {

std::string version(int number) {
  return std::to_string(number / 1000) + "." + std::to_string(number % 1000 / 10);
}

/// Oldest compute capability that the kernels were compiled for, times ten.
constexpr int oldest = GV_OLDEST_CAPABILITY;

/// Throws CudaError for a device that the kernels were not compiled for: it would answer, but could
/// run no kernel.
CudaDevice describe(int number) {
  cudaDeviceProp properties{};
  GV_CUDA(cudaGetDeviceProperties(&properties, number));
  if (10 * properties.major + properties.minor < oldest)
    throw CudaError("[gpu] device " + std::to_string(number) + ", " + properties.name +
                    ", is of compute capability " + std::to_string(properties.major) + "." +
                    std::to_string(properties.minor) + ", and the kernels were compiled from " +
                    std::to_string(oldest / 10) + "." + std::to_string(oldest % 10) +
                    " on; hide it (CUDA_VISIBLE_DEVICES), or build with "
                    "-DCMAKE_CUDA_ARCHITECTURES");
  CudaDevice device;
  device.number = number;
  device.name = properties.name;
  device.capability = std::to_string(properties.major) + "." + std::to_string(properties.minor);
  device.memory_bytes = static_cast<double>(properties.totalGlobalMem);
  return device;
}

CudaStatus status() {
  CudaStatus status;
  status.built = true;
  status.versions = "CUDA " + version(CUDART_VERSION);
  int count = 0;
  if (const cudaError_t error = cudaGetDeviceCount(&count); error != cudaSuccess) {
    cudaGetLastError();
    status.problem = cudaGetErrorString(error);
    return status;
  }
  try {
    for (int number = 0; number < count; ++number) status.devices.push_back(describe(number));
  } catch (const CudaError& e) {
    status.devices.clear();  // `auto` uses the CPU then, `cuda` reports the problem
    status.problem = e.what();
    return status;
  }
  if (count == 0) status.problem = "the driver shows no device";
  return status;
}

}  // namespace
}  // namespace gv::gpu

const gv::gpu::Plugin* gv_cuda_plugin() {
  static const gv::gpu::Plugin plugin{gv::gpu::status, gv::gpu::make_replica};
  return &plugin;
}
