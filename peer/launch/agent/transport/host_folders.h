#pragma once

#include <map>
#include <string>

#include "peer/record/run_folder.h"

namespace gv {

/// Folder in which the peers of a run keep their files on a machine.
struct HostFolder {
  std::string name;      ///< run's folder in the cache there: letters, digits, `-` and `_`
  bool fetched = false;  ///< the files are in the run's folder here
};

/// Folders by host, kept in hosts.json of the run's folder, so that a program that resumes the run
/// finds the files that exist only on the hosts, whatever became of the launcher.
using HostFolders = std::map<std::string, HostFolder>;

/// Returns an empty map if the run had no hosts. Throws std::runtime_error with a bad file's path.
HostFolders read_host_folders(const std::string& run_folder);
/// Throws std::runtime_error with the path.
void write_host_folders(const RunFolder& folder, const HostFolders& hosts);

}  // namespace gv
