#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "peer/cli/command.h"
#include "peer/fleet/fleet.h"
#include "peer/launch/program/scout.h"
#include "peer/record/run_folder.h"
#include "peer/runtime/assembly.h"
#include "peer/runtime/exit_code.h"

namespace gv::cli {

/// Options of every command that reads a fleet file.
struct FleetOptions {
  std::string file;
  std::vector<std::string> sets;
  bool json = false;
  std::optional<Untrusted> untrusted{};  ///< a run's folder names the file, without --trust
};

/// Adds --trust to a command that reads a run's folder and would run what that folder names.
void add_trust(Options& options, bool& trust);

/// The fleet file and --set values that a run's folder names. Throws std::runtime_error.
FleetOptions options_named_by(const std::string& run_folder, bool trust);

/// Adds FILE, --set and --json. Returns FILE's option.
Option add_fleet_options(Options& options, FleetOptions& fleet);

/// Completes the name of a fleet file: none is `fleet.yaml`, where that is there, and `wine` is
/// `wine.yaml`, where there is no `wine`.
void find_fleet_file(FleetOptions& options);

/// Reads the fleet file, whose name is completed in `options`; notices go to stderr. `only`,
/// `launched`: see assemble.
Fleet read_file(FleetOptions& options,
                std::optional<PeerId> only = std::nullopt,
                bool launched = false);
/// Reads the fleet file, whose name is complete.
Fleet read_as_named(const FleetOptions& options, std::vector<std::string>* notices);
/// Reads the fleet file and makes it ready. `only`: see Assembly. `launched`: for a peer that a
/// launcher has started, which has told the notices if it is on the same machine. Throws
/// std::invalid_argument for a fleet with `program`, whose model, data and gradients are nothing
/// that we have.
Assembly assemble(const FleetOptions& options,
                  std::optional<PeerId> only = std::nullopt,
                  bool launched = false);
/// Fills in `options` as the folder of a run that is to go on tells; returns the fleet's digest.
std::string read_again(const std::string& run_folder, FleetOptions& options);
/// Throws std::invalid_argument if the fleet file is another one now, or the data are.
void check_again(const std::string& run_folder, const Fleet& fleet, const std::string& digest);
/// The fleet of a run that is to go on: both.
Assembly assemble_again(const std::string& run_folder, FleetOptions& options);

/// Checks the devices of peers to be started: see check_devices. Notices go to stderr.
void tell_devices(const Assembly& fleet, const std::vector<PeerId>& peers);
/// Warns on stderr of a rate, a step of consensus or a codec with which the fleet is known to
/// diverge, and of ledgers that record nothing.
void print_warnings(const Assembly& fleet);

/// Makes a fleet ready that is to run, as assemble() does. Where programs train, one of them is
/// asked what, and stays as `scout`; `binary`: the program `grapevine` that becomes it. Throws
/// std::runtime_error where it cannot be asked.
Assembly assemble_to_run(const FleetOptions& options,
                         const std::string& binary,
                         std::unique_ptr<Scout>& scout);
/// Likewise for a fleet that read_file() has read from these options.
Assembly assemble_to_run(Fleet fleet,
                         const FleetOptions& options,
                         const std::string& binary,
                         std::unique_ptr<Scout>& scout);

/// Makes a fleet ready of which figures are wanted: where programs train, one of them takes some
/// steps alone, so that what a model of the fleet's time says has their seconds.
Assembly assemble_to_plan(const FleetOptions& options);

/// Returns how many times longer a step takes where the peers of this machine share its cores than
/// one peer alone on it; of hosts elsewhere nothing is known, and it is 1.
double crowding(const Fleet& fleet);

/// The name of the file in the run's folder that holds what the scout has said.
inline constexpr const char* start_name = "start.safetensors";

/// Keeps what the scout has said in the run's folder, and returns the options by which peers find
/// it; without a scout none.
std::vector<std::string> hand_over(const Scout* scout, const RunFolder& folder);

}  // namespace gv::cli
