#pragma once

#include <optional>
#include <string>
#include <vector>

#include "peer/fleet/fleet.h"
#include "peer/launch/agent/data_look.h"

namespace gv {

/// The cores and devices that a machine can compute with.
struct HostDevices {
  std::string name;
  unsigned cores = 0;
  std::optional<std::vector<DeviceFacts>> devices{};  ///< on CUDA; nothing: it did not tell
  std::string no_device{};                            ///< why there is none
};

/// Says where the fleet file asks for a device that the machine has not got, or for more threads
/// than it has cores; each with what to do. `ids`: those of `peers` that are to train there.
std::vector<std::string> device_findings(const HostDevices& host,
                                         const std::vector<PeerId>& ids,
                                         const std::vector<PeerSpec>& peers);

}  // namespace gv
