#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "peer/runtime/assembly/assembly.h"

namespace gv::cli {

/// Question of `plan --parallel`.
struct ParallelQuestion {
  std::vector<std::string> sets{};  ///< --set of the fleet file
  std::string profile{};   ///< profile file; "" for simulate.profile, or else operation counts
  double search = 0;       ///< seconds of search; 0: only partition.h
  std::uint64_t seed = 1;  ///< seed of the search
  bool json = false;
};

/// Prints the benefit of dividing the fleet's model over its peers
/// (study/predict/parallel/proposals.h), with the keys to set. Returns the exit code. Throws
/// FleetError and std::runtime_error if the profile is not of this model, and std::invalid_argument
/// for a model without layers.
int divide_model(const Assembly& fleet, const ParallelQuestion& question);

/// Finds the best places of the peers on the fleet's graph (study/predict/forecast/proposal.h),
/// writes that graph, and prints its benefit and other changes that make the fleet faster, as keys
/// to set. `sets`: those that the fleet was read with. Returns the exit code. Throws
/// std::runtime_error if the file cannot be written.
int place_peers(const Assembly& fleet,
                const std::vector<std::string>& sets,
                const std::string& file,
                bool json);

}  // namespace gv::cli
