#include <dlfcn.h>

#include "gpu/cuda_replica.h"
#include "gpu/device_plugin.h"

// Linked when CUDA is on: loads the plugin when a device is first needed.

namespace gv {
namespace {

struct Loaded {
  const gpu::Plugin* plugin = nullptr;
  std::string problem;
};

std::string last_error() {
  const char* text = ::dlerror();
  return text == nullptr ? "unknown error" : text;
}

Loaded load() {
  // The driver first: without it, loading the rest is useless.
  if (::dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL) == nullptr)
    return {nullptr, "no NVIDIA driver: " + last_error()};
  // Never closed, because its code and thread-local state are needed until the process ends.
  void* library = ::dlopen(gpu::plugin_file, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return {nullptr, last_error()};
  void* symbol = ::dlsym(library, gpu::plugin_symbol);
  if (symbol == nullptr) return {nullptr, last_error()};
  return {reinterpret_cast<const gpu::Plugin* (*)()>(symbol)(), ""};
}

const Loaded& loaded() {
  static const Loaded once = load();
  return once;
}

}  // namespace

CudaStatus cuda_status() {
  if (loaded().plugin != nullptr) return loaded().plugin->status();
  CudaStatus status;
  status.built = true;
  status.problem = loaded().problem;
  return status;
}

bool cuda_available() {
  static const bool here = !cuda_status().devices.empty();
  return here;
}

std::unique_ptr<Replica> make_cuda_replica(const NeuralNetwork& network,
                                           Share share,
                                           const OptimizerSpec& optimizer,
                                           std::uint32_t batch,
                                           Rng init,
                                           CudaPlace place,
                                           Precision precision) {
  const CudaStatus status = cuda_status();
  if (status.devices.empty())
    throw CudaError("[gpu] no CUDA device: " + status.problem + "; use device: cpu or auto");
  if (place.number < 0 || static_cast<std::size_t>(place.number) >= status.devices.size())
    throw CudaError("[gpu] there is no CUDA device " + std::to_string(place.number) +
                    ": this machine has " + std::to_string(status.devices.size()) +
                    ", numbered from 0");
  return loaded().plugin->make_replica(network, std::move(share), optimizer, batch, init, place,
                                       precision);
}

}  // namespace gv
