#include "gpu/device/device_memory.h"

#include "gpu/device/near_memory.h"

namespace gv::gpu {
namespace {

std::string mib(std::size_t bytes) {
  return std::to_string((bytes + (std::size_t{1} << 20) - 1) >> 20) + " MiB";
}

[[noreturn]] void out_of_memory(std::size_t bytes, const std::string& what) {
  cudaGetLastError();
  int device = 0;
  std::size_t free = 0;
  std::size_t total = 0;
  GV_CUDA(cudaGetDevice(&device));
  GV_CUDA(cudaMemGetInfo(&free, &total));
  throw DeviceFull("[gpu] device " + std::to_string(device) + " is out of memory: " + mib(bytes) +
                   " (" + std::to_string(bytes) + " bytes) wanted for " + what + ", " + mib(free) +
                   " of " + mib(total) + " free; a smaller batch or fewer peers on it may fit");
}

}  // namespace

void* allocate_device(std::size_t bytes, const std::string& what) {
  void* memory = nullptr;
  const cudaError_t status = cudaMalloc(&memory, bytes);
  if (status == cudaErrorMemoryAllocation) out_of_memory(bytes, what);
  GV_CUDA(status);
  // The default stream runs the memset; a replica's streams do not wait for it by themselves.
  if (const cudaError_t cleared = cudaMemset(memory, 0, bytes); cleared != cudaSuccess) {
    cudaFree(memory);
    GV_CUDA(cleared);
  }
  if (const cudaError_t done = cudaStreamSynchronize(nullptr); done != cudaSuccess) {
    cudaFree(memory);
    GV_CUDA(done);
  }
  return memory;
}

void* allocate_pinned(std::size_t bytes, const std::string& what) {
  const NearMemory near(own_node());
  void* memory = nullptr;
  const cudaError_t status = cudaHostAlloc(&memory, bytes, cudaHostAllocPortable);
  if (status == cudaErrorMemoryAllocation) {
    cudaGetLastError();
    throw CudaError("[gpu] the host has no " + mib(bytes) + " of memory to lock for " + what +
                    " (ulimit -l, or the memory limit of a container)");
  }
  GV_CUDA(status);
  return memory;
}

unsigned flags_to_wait_for() {
  unsigned flags = 0;
  GV_CUDA(cudaGetDeviceFlags(&flags));
  const bool sleeps = (flags & cudaDeviceScheduleMask) == cudaDeviceScheduleBlockingSync;
  return cudaEventDisableTiming | (sleeps ? cudaEventBlockingSync : cudaEventDefault);
}

// Ignores errors, because the CUDA runtime may be gone at the end of the process.
void free_device(void* memory) noexcept {
  if (cudaFree(memory) != cudaSuccess) cudaGetLastError();
}

void free_pinned(void* memory) noexcept {
  if (cudaFreeHost(memory) != cudaSuccess) cudaGetLastError();
}

}  // namespace gv::gpu
