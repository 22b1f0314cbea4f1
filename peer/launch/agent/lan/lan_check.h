#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "peer/fleet/fleet.h"
#include "peer/launch/agent/facts/data_look.h"
#include "peer/launch/agent/machines.h"
#include "peer/launch/program/program_words.h"

namespace gv {

/// State of a machine of a fleet.
struct HostCheck {
  std::string name;
  double ssh_seconds = 0;            ///< until its agent's first message
  std::optional<HostFacts> facts{};  ///< nothing if no agent came up
  double clock_ahead = 0;            ///< minimum, in seconds, ahead of our clock
  std::optional<DataLook> look{};    ///< nothing if it did not answer
};

/// State of a fleet's machines and of the connections between them.
struct LanCheck {
  std::vector<HostCheck> hosts;
  std::vector<std::string> roads;     ///< "anna -> ben at 10.0.0.2"
  std::vector<std::string> findings;  ///< problems, each with what to do
  std::vector<std::string> warnings;  ///< notes about things that fail no run
};

/// Starts an agent on each machine, checks everything, and leaves nothing there but the program.
LanCheck check_lan(const Assembly& fleet, const LanOptions& options);

/// Cores and devices that a machine can compute with.
struct HostDevices {
  std::string name;
  unsigned cores = 0;
  std::optional<std::vector<DeviceFacts>> devices{};  ///< nothing if it did not report them
  std::string no_device{};                            ///< reason if there is none
};

/// Returns the devices that the fleet file asks for and the machine does not have, and threads
/// beyond its cores, each with what to do. `ids`: the `peers` that are to train there.
std::vector<std::string> device_findings(const HostDevices& host,
                                         const std::vector<PeerId>& ids,
                                         const std::vector<PeerSpec>& peers);

// Data that is not sent must be on each machine of a fleet, and be the same on all. `paths`: of
// each machine, its paths of the data; on all the same number in the same order.

/// Asks all machines for their data, and devices if wanted. Nothing for a failed machine.
std::vector<std::optional<DataLook>> look_everywhere(
    Machines& machines, const std::vector<std::vector<std::string>>& paths, bool devices = false);

/// Returns 8 hex digits over all data there, equal for machines with the same data, or "" if there
/// are no paths or something is missing.
std::string data_digest(const DataLook& look);

/// Returns what each host lacks, and how it differs from the first host that has it, with the first
/// file that differs; each with what to do. `hosts`: names, in the order of `looks`.
std::vector<std::string> data_findings(const std::vector<std::string>& hosts,
                                       const std::vector<std::vector<std::string>>& paths,
                                       const std::vector<std::optional<DataLook>>& looks);

/// Result of starting the fleet's program once on one machine, alone, to ask what it trains.
struct ProgramTrial {
  bool introduced = false;           ///< the program introduced itself
  asked::Introduction says{};        ///< its introduction, without parameters if they were too many
  std::string ending{};              ///< exit or signal of a program without an introduction
  std::vector<std::string> words{};  ///< last lines that this program printed
};

/// Starts the fleet's program once on each machine that trains, waits for its introduction and ends
/// it. The machines already have the fleet's file. Logs repeatedly which machines are missing.
std::vector<ProgramTrial> try_programs(Machines& machines,
                                       const std::function<void(const std::string&)>& say);

/// Returns the problem on the machine and what to do, or "". `here`: the program's introduction on
/// the launcher's machine.
std::string program_finding(const std::string& host,
                            const ProgramSpec& program,
                            const ProgramTrial& trial,
                            const asked::Introduction& here);

/// Returns the problems on all machines.
std::vector<std::string> program_findings(Machines& machines,
                                          const Fleet& fleet,
                                          const asked::Introduction& here,
                                          const std::function<void(const std::string&)>& say);

}  // namespace gv
