#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "peer/cli/command.h"
#include "peer/fleet/fleet.h"
#include "peer/launch/program/scout.h"
#include "peer/record/run_folder.h"
#include "peer/runtime/assembly/assembly.h"

namespace gv::cli {

/// Options of every command that reads a fleet file.
struct FleetOptions {
  std::string file;
  std::vector<std::string> sets;
  bool json = false;
  std::optional<Untrusted> untrusted{};  ///< set if a run's folder names the file, without --trust
};

/// Adds --trust to a command that reads a run's folder and would run code that the folder names.
void add_trust(Options& options, bool& trust);

/// Returns the fleet file and --set values that a run's folder names. Throws std::runtime_error.
FleetOptions options_named_by(const std::string& run_folder, bool trust);

/// Adds FILE, --set and --json. Returns FILE's option.
Option add_fleet_options(Options& options, FleetOptions& fleet);

/// Completes the name of a fleet file: none becomes `fleet.yaml` if that exists, and `wine` becomes
/// `wine.yaml` if there is no `wine`.
void find_fleet_file(FleetOptions& options);

/// Completes the file's name in `options` and reads the fleet file; notices go to stderr. `only`,
/// `launched`: see assemble.
Fleet read_file(FleetOptions& options,
                std::optional<PeerId> only = std::nullopt,
                bool launched = false);
/// Reads the fleet file without completing its name.
Fleet read_as_named(const FleetOptions& options, std::vector<std::string>* notices);
/// Reads the fleet file and builds the fleet. `only`: see Assembly. `launched`: for a peer with a
/// launcher, which has printed the notices if it is on the same machine. Throws
/// std::invalid_argument for a fleet with `program`, because only its program has model, data and
/// gradients.
Assembly assemble(const FleetOptions& options,
                  std::optional<PeerId> only = std::nullopt,
                  bool launched = false);
/// Sets `options` from the folder of a run to be resumed; returns the fleet's digest.
std::string read_again(const std::string& run_folder, FleetOptions& options);
/// Throws std::invalid_argument if the fleet file or the data have changed.
void check_again(const std::string& run_folder, const Fleet& fleet, const std::string& digest);
/// Builds the fleet of a run to be resumed, with both functions above.
Assembly assemble_again(const std::string& run_folder, FleetOptions& options);

/// Checks the devices of peers to be started: see check_devices. Notices go to stderr.
void tell_devices(const Assembly& fleet, const std::vector<PeerId>& peers);
/// Warns on stderr of a rate, a step of consensus or a codec with which the fleet is known to
/// diverge, and of ledgers that record nothing.
void print_warnings(const Assembly& fleet);
/// Returns `only` (see Assembly) for a program that starts peers on other machines or predicts
/// them. If a part of the data (`{id}`) is not here, that is a number above all peers', for which
/// the test set gives the shape; else nothing.
std::optional<PeerId> reader_of_parts(const Fleet& fleet);
/// Builds a fleet as assemble() does, with parts of the data that may be on other machines.
Assembly assemble_apart(const FleetOptions& options, bool silently = false);

/// Builds a fleet to be run, as assemble() does. If programs train, one is started as `scout` to
/// introduce the model, and keeps running; `binary`: the program `grapevine` that becomes it.
/// Throws std::runtime_error if that fails.
Assembly assemble_to_run(const FleetOptions& options,
                         const std::string& binary,
                         std::unique_ptr<Scout>& scout);
/// Builds a fleet that read_file() has read from these options.
Assembly assemble_to_run(Fleet fleet,
                         const FleetOptions& options,
                         const std::string& binary,
                         std::unique_ptr<Scout>& scout);

/// Builds a fleet to predict its figures. If programs train, one takes some steps alone, so that a
/// model of the fleet's time knows their duration.
Assembly assemble_to_plan(const FleetOptions& options);

/// Returns the factor by which a step is slower when the peers of this machine share its cores than
/// with one peer alone; 1 for hosts elsewhere.
double crowding(const Fleet& fleet);

/// Name of the file in the run's folder with the scout's introduction.
inline constexpr const char* start_name = "start.safetensors";

/// Writes the scout's introduction into the run's folder, and returns the options by which peers
/// find it; none without a scout.
std::vector<std::string> hand_over(const Scout* scout, const RunFolder& folder);

}  // namespace gv::cli
