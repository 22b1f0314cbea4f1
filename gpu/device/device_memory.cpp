#include "gpu/device/device_memory.h"

#include <algorithm>
#include <cctype>
#include <fstream>

#include <linux/mempolicy.h>
#include <sys/syscall.h>
#include <unistd.h>

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

std::optional<int> node_of(std::string address, const std::string& devices) {
  std::ranges::transform(address, address.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  std::ifstream file(devices + "/" + address + "/numa_node");
  int node = -1;
  if (!(file >> node) || node < 0) return {};
  return node;
}

std::optional<int> own_node() {
  int device = 0;
  std::array<char, 32> address{};
  GV_CUDA(cudaGetDevice(&device));
  const auto room = static_cast<int>(address.size());
  if (cudaDeviceGetPCIBusId(address.data(), room, device) == cudaSuccess)
    return node_of(address.data());
  cudaGetLastError();
  return {};
}

NearMemory::NearMemory(std::optional<int> node) {
  if (!node || *node < 0 || static_cast<unsigned long>(*node) >= most_nodes) return;
  if (::syscall(SYS_get_mempolicy, &mode_, nodes_.data(), most_nodes, nullptr, 0) != 0) return;
  constexpr unsigned bits = 8 * sizeof(unsigned long);
  const auto n = static_cast<unsigned>(*node);
  Nodes wanted{};
  wanted.at(n / bits) = 1UL << (n % bits);
  changed_ = ::syscall(SYS_set_mempolicy, MPOL_PREFERRED, wanted.data(), most_nodes) == 0;
}

NearMemory::~NearMemory() {
  // The default policy has no nodes.
  const bool usual = mode_ == MPOL_DEFAULT;
  if (changed_)
    ::syscall(SYS_set_mempolicy, mode_, usual ? nullptr : nodes_.data(), usual ? 0 : most_nodes);
}

/// Without cudaHostRegisterReadOnly, the driver refuses pages that this process may not write.
cudaError_t lock_pages(std::span<const std::byte> pages, bool only_read) {
  const NearMemory near(own_node());
  auto* const begin = const_cast<std::byte*>(pages.data());
  const unsigned flags = cudaHostRegisterPortable | (only_read ? cudaHostRegisterReadOnly : 0U);
  const cudaError_t status = cudaHostRegister(begin, pages.size(), flags);
  if (status != cudaSuccess) cudaGetLastError();
  return status;
}

// Ignores errors, because the CUDA runtime may be gone at the end of the process.
void unlock_pages(const std::byte* pages) noexcept {
  if (cudaHostUnregister(const_cast<std::byte*>(pages)) != cudaSuccess) cudaGetLastError();
}

CudaGraph::~CudaGraph() {
  if (executable_ != nullptr) cudaGraphExecDestroy(executable_);
}

std::string CudaGraph::record(const Stream& stream, const std::function<void()>& work) {
  try {
    capture(stream, work);
    return "";
  } catch (const CudaError& e) {
    return e.what();
  }
}

void CudaGraph::capture(const Stream& stream, const std::function<void()>& work) {
  // Other threads, with other replicas, can continue during the capture.
  GV_CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  cudaGraph_t graph = nullptr;
  try {
    work();
  } catch (...) {
    cudaStreamEndCapture(stream, &graph);  // the exception in flight has the better message
    if (graph != nullptr) cudaGraphDestroy(graph);
    cudaGetLastError();
    throw;
  }
  GV_CUDA(cudaStreamEndCapture(stream, &graph));
  const cudaError_t status = cudaGraphInstantiate(&executable_, graph, 0);
  cudaGraphDestroy(graph);
  GV_CUDA(status);
}

void CudaGraph::launch(const Stream& stream) const {
  GV_CUDA(cudaGraphLaunch(executable_, stream));
}

}  // namespace gv::gpu
