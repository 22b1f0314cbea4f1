#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "peer/fleet/fleet.h"
#include "peer/launch/agent/data_look.h"
#include "peer/launch/agent/machines.h"
#include "peer/launch/program/program_words.h"

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

// Data that does not travel must be on each machine of a fleet, and the same on all. `paths`: of
// each machine, where it has them; of all the same number in the same order.

/// Asks all machines, for their devices too where that is wanted; nothing for those that have
/// failed.
std::vector<std::optional<DataLook>> look_everywhere(
    Machines& machines, const std::vector<std::vector<std::string>>& paths, bool devices = false);

/// Returns 8 hex digits of all that lies there: two machines with the same data have the same ones.
/// "": nothing was asked for, or something is missing.
std::string data_digest(const DataLook& look);

/// Says which host lacks what, and on which it differs from the first that has it, with the first
/// file that does; each with what to do. `hosts`: their names, in the order of `looks`.
std::vector<std::string> data_findings(const std::vector<std::string>& hosts,
                                       const std::vector<std::vector<std::string>>& paths,
                                       const std::vector<std::optional<DataLook>>& looks);

/// The course of the fleet's program on one machine when it is asked there, alone and once.
struct ProgramTrial {
  bool introduced = false;           ///< it said what it trains; then
  asked::Introduction says{};        ///< this, without parameters where they were too many
  std::string ending{};              ///< otherwise: how it ended,
  std::vector<std::string> words{};  ///< and the last lines that it printed
};

/// Starts the program of the fleet once on each machine that trains, where its peers will run, and
/// waits for what it says of itself; then it is ended. The machines have the fleet's file. `say`:
/// is told, again and again, of whom is waited for.
std::vector<ProgramTrial> try_programs(Machines& machines,
                                       const std::function<void(const std::string&)>& say);

/// Says what is wrong on the machine, and what to do; "": nothing. `here`: what the program says of
/// itself where the launcher is.
std::string program_finding(const std::string& host,
                            const ProgramSpec& program,
                            const ProgramTrial& trial,
                            const asked::Introduction& here);

/// Returns what is wrong on all machines of which there is something to say.
std::vector<std::string> program_findings(Machines& machines,
                                          const Fleet& fleet,
                                          const asked::Introduction& here,
                                          const std::function<void(const std::string&)>& say);

}  // namespace gv
