#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "peer/cli/fleet_options.h"

namespace gv::cli {

/// `simulate --faults swarm`: many fault seeds instead of one undisturbed run.
struct SwarmArguments {
  std::string faults;  ///< "swarm"; empty: none
  std::string seeds = "1..100";
  std::optional<std::uint64_t> seed;
  std::uint64_t until_ms = 500;
  int jobs = 0;
};
void add_swarm_options(Options& options, SwarmArguments& arguments);
int run_swarm(const FleetOptions& file, const SwarmArguments& arguments);

}  // namespace gv::cli
