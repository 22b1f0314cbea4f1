#pragma once

#include <array>
#include <optional>
#include <string>

namespace gv::gpu {

/// Returns the NUMA node next to a PCI device, by the kernel's numbering. Returns nothing if the
/// machine has only one, or the kernel does not report it. address: "0000:3B:00.0", in any case.
std::optional<int> node_of(std::string address,
                           const std::string& devices = "/sys/bus/pci/devices");

/// Returns the NUMA node next to the calling thread's current device.
std::optional<int> own_node();

/// During its lifetime, memory that the calling thread touches first is placed on the given node,
/// if that has room: copies from another node would cross the link between the sockets. The
/// destructor restores the old policy. If the system forbids the change (a container), it does
/// nothing.
class NearMemory {
 public:
  explicit NearMemory(std::optional<int> node);
  ~NearMemory();
  NearMemory(const NearMemory&) = delete;
  NearMemory& operator=(const NearMemory&) = delete;

 private:
  static constexpr unsigned long most_nodes = 1024;  ///< limit of a kernel
  using Nodes = std::array<unsigned long, most_nodes / (8 * sizeof(unsigned long))>;
  bool changed_ = false;
  int mode_ = 0;  ///< policy to restore
  Nodes nodes_{};
};

}  // namespace gv::gpu
