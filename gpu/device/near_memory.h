#pragma once

#include <array>
#include <optional>
#include <string>

namespace gv::gpu {

/// Returns the NUMA node that a PCI device is next to, as the kernel names it; nothing: the machine
/// has but one, or does not say. address: "0000:3B:00.0", in any case.
std::optional<int> node_of(std::string address,
                           const std::string& devices = "/sys/bus/pci/devices");

/// Returns the node next to the device that is the calling thread's.
std::optional<int> own_node();

/// As long as it lives, memory that the calling thread is the first to touch lies on a node, where
/// there is room: what a device copies from another node crosses the link between the sockets.
/// Afterwards it lies where it did before. Where the system forbids it (a container), nothing
/// changes.
class NearMemory {
 public:
  explicit NearMemory(std::optional<int> node);
  ~NearMemory();
  NearMemory(const NearMemory&) = delete;
  NearMemory& operator=(const NearMemory&) = delete;

 private:
  static constexpr unsigned long most_nodes = 1024;  ///< of a kernel
  using Nodes = std::array<unsigned long, most_nodes / (8 * sizeof(unsigned long))>;
  bool changed_ = false;
  int mode_ = 0;  ///< before
  Nodes nodes_{};
};

}  // namespace gv::gpu
