#pragma once

#include <functional>
#include <string>
#include <vector>

#include "peer/launch/agent/host_folders.h"
#include "peer/launch/agent/machines.h"
#include "peer/record/run_folder.h"

namespace gv {

/// Fetches what the peers have left on their machines (checkpoints, ledgers, records) into the
/// run's folder here, and returns the hosts of which it could not be had, which keep it; why is
/// said. One that was lost is asked again: it may be back. What was fetched goes from its machine
/// when its agent leaves.
std::vector<std::string> bring_home(Machines& machines,
                                    const RunFolder& folder,
                                    const std::function<void(const std::string&)>& say);

/// Says where the machines keep it, for whoever goes on with the run.
HostFolders host_folders(const Machines& machines);

/// Does so for a run that is over, with the hosts of which nothing came at its end; returns those
/// of which nothing comes yet. Throws std::runtime_error where an agent cannot be started at all.
std::vector<std::string> fetch_rest(const Assembly& fleet,
                                    LanOptions options,
                                    const RunFolder& folder);

}  // namespace gv
