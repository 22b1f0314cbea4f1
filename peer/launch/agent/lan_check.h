#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "peer/launch/agent/data_look.h"
#include "peer/launch/agent/machines.h"

namespace gv {

/// The state of a machine of a fleet.
struct HostCheck {
  std::string name;
  double ssh_seconds = 0;            ///< until its agent had spoken
  std::optional<HostFacts> facts{};  ///< nothing: no agent came up
  double clock_ahead = 0;            ///< of ours, in seconds; at least
  std::optional<DataLook> look{};    ///< nothing: it did not answer
};

/// The state of a fleet's machines and of the roads between them.
struct LanCheck {
  std::vector<HostCheck> hosts;
  std::vector<std::string> roads;     ///< "anna -> ben at 10.0.0.2"
  std::vector<std::string> findings;  ///< what is wrong, each with what to do
  std::vector<std::string> warnings;  ///< what a person should know, and no run fails by
};

/// Starts an agent on each machine, looks at everything, and leaves nothing there but the program.
LanCheck check_lan(const Assembly& fleet, const LanOptions& options);

}  // namespace gv
