#pragma once

#include <functional>
#include <string>
#include <vector>

#include "peer/launch/agent/machines.h"
#include "peer/launch/agent/transport/host_folders.h"
#include "peer/record/run_folder.h"

namespace gv {

/// Fetches what the peers have left on their machines (checkpoints, ledgers, records) into the
/// run's folder here, and tries again a host that was lost. Reports failures and returns their
/// hosts, which keep the files. Fetched files are deleted on a machine when its agent leaves.
std::vector<std::string> bring_home(Machines& machines,
                                    const RunFolder& folder,
                                    const std::function<void(const std::string&)>& say);

/// Returns the folders in which the machines keep these files, for a program that resumes the run.
HostFolders host_folders(const Machines& machines);

/// Fetches, for a run that is over, the files of the hosts that sent nothing at its end. Returns
/// the hosts that still send nothing. Throws std::runtime_error if no agent can be started.
std::vector<std::string> fetch_rest(const Assembly& fleet,
                                    LanOptions options,
                                    const RunFolder& folder);

}  // namespace gv
