#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "peer/cli/fleet_options.h"
#include "peer/sim/fault_injector.h"

namespace gv::cli {

/// `simulate --faults swarm`: many fault seeds instead of one undisturbed run, of the fleet of a
/// file or of fleets that are drawn; `--faults heal`: one accident after the other.
struct SwarmArguments {
  std::string faults;  ///< "swarm", "heal"; empty: none
  std::string seeds;   ///< "": 1..100, of a drawn fleet 1..10
  std::optional<std::uint64_t> seed;
  std::optional<std::uint64_t> until_ms;  ///< none: 500, or as a drawn fleet says
  std::string only_faults;                ///< names with commas between them; "": all
  std::string fleets;                     ///< "1..1000": drawn ones; "": the file's
  std::string method;                     ///< of drawn ones; "": all
  std::uint64_t length_ms = 8000;
  int jobs = 0;
};
void add_swarm_options(Options& options, SwarmArguments& arguments);
/// Returns what is only for a swarm, and was given; "" when nothing was.
std::string option_of_swarm(const SwarmArguments& arguments);
int run_swarm(const FleetOptions& file, const SwarmArguments& arguments);

// For the two kinds of swarm: seeds of one fleet, and drawn fleets.

/// Both ends inclusive.
using SwarmRange = std::pair<std::uint64_t, std::uint64_t>;
/// "7" or "1..1000", of the option `name`. Throws std::invalid_argument.
SwarmRange parse_range(const char* name, const std::string& text);
FaultClasses parse_faults(const std::string& names);
int run_drawn_swarm(const FleetOptions& file, const SwarmArguments& arguments);

}  // namespace gv::cli
