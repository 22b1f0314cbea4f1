#pragma once

#include <map>
#include <string>

#include "peer/record/run_folder.h"

namespace gv {

/// The folder in which the peers of a run keep their files on a machine.
struct HostFolder {
  std::string name;      ///< of the run's folder in the cache there: letters, digits, `-` and `_`
  bool fetched = false;  ///< what they left is in the run's folder here
};

/// The folders by host. They are in hosts.json of the run's folder, so that whoever goes on with
/// the run finds what is on the hosts alone, whatever became of the launcher.
using HostFolders = std::map<std::string, HostFolder>;

/// Returns no folders where the run had no hosts. Throws std::runtime_error with the path where it
/// makes no sense.
HostFolders read_host_folders(const std::string& run_folder);
/// Throws std::runtime_error with the path.
void write_host_folders(const RunFolder& folder, const HostFolders& hosts);

}  // namespace gv
