#pragma once

#include <string>
#include <vector>

#include "peer/fleet/fleet.h"

namespace gv {

/// The mark of a fleet file that a run's folder names. Another person may have made that folder, so
/// nothing runs that the file names, unless the user says --trust.
struct Untrusted {
  std::string folder;  ///< of the run
  /// Keys whose values the caller would run. Reading a fleet loads `plugin` at once.
  std::vector<std::string> code{"plugin", "program"};
};

/// Reads a fleet as read_fleet does, but throws FleetError with the line of each key in
/// `untrusted.code` that the file or `sets` have, before any of them acts.
Fleet read_untrusted_fleet(const std::string& path,
                           const std::vector<std::string>& sets,
                           std::vector<std::string>* notices,
                           const Untrusted& untrusted);

}  // namespace gv
