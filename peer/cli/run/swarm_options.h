#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "peer/cli/fleet_options.h"
#include "peer/sim/world/fault_injector.h"

namespace gv::cli {

/// `simulate --faults swarm`: runs many fault seeds instead of one undisturbed run, for the
/// fleet of a file or for random fleets. `--faults heal`: one accident after the other.
struct SwarmArguments {
  std::string faults;  ///< "swarm", "heal" or ""
  std::string seeds;   ///< "" for 1..100, or 1..10 for a random fleet
  std::optional<std::uint64_t> seed;
  std::optional<std::uint64_t> until_ms;  ///< by default 500, or a random fleet's own
  std::string only_faults;                ///< names separated by commas; "" for all
  std::string fleets;                     ///< "1..1000": random fleets; "" for the file's
  std::string method;                     ///< method of random fleets; "" for all
  std::uint64_t length_ms = 8000;
  int jobs = 0;
};
void add_swarm_options(Options& options, SwarmArguments& arguments);
/// Returns the given option that is only for a swarm, or "".
std::string option_of_swarm(const SwarmArguments& arguments);
int run_swarm(const FleetOptions& file, const SwarmArguments& arguments);

// For both kinds of swarm: seeds of one fleet, and random fleets.

/// Range with both ends included.
using SwarmRange = std::pair<std::uint64_t, std::uint64_t>;
/// Parses "7" or "1..1000" of the option `name`. Throws std::invalid_argument.
SwarmRange parse_range(const char* name, const std::string& text);
FaultClasses parse_faults(const std::string& names);
int run_drawn_swarm(const FleetOptions& file, const SwarmArguments& arguments);

}  // namespace gv::cli
