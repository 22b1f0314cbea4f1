#include <cstdio>
#include <exception>

#include "gpu/bench/measure.h"
#include "gpu/device_plugin.h"

// Compares the device with its limits: training, in samples per second, with its floor; the fused
// mixing and step, the level-1 operations and the codecs with a copy in the device's memory;
// transfers in and out of the replica with plain copies over the bus. Prints tables in Markdown.

namespace gv::gpu {
namespace {

int run() {
  const CudaStatus status = gv_cuda_plugin()->status();
  if (status.devices.empty()) {
    std::fprintf(stderr, "no CUDA device: %s\n", status.problem.c_str());
    return 5;
  }
  std::printf("%s, %s\n", status.devices[0].name.c_str(), status.versions.c_str());
  put_kernels();
  put_level1_and_codecs();
  put_ways_in_and_out();
  return put_training() ? 0 : 1;
}

}  // namespace
}  // namespace gv::gpu

int main() {
  try {
    return gv::gpu::run();
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}
