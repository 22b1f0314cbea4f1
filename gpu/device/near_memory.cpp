#include "gpu/device/near_memory.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <fstream>

#include <cuda_runtime_api.h>
#include <linux/mempolicy.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "gpu/device/cuda_check.h"

namespace gv::gpu {

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

}  // namespace gv::gpu
