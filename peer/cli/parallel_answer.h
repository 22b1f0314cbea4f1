#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "peer/runtime/assembly.h"

namespace gv::cli {

/// The question that `plan --parallel` is asked.
struct ParallelQuestion {
  std::vector<std::string> sets{};  ///< of the fleet file
  std::string profile{};            ///< a file; "": that of the fleet file, or else by operations
  double search = 0;                ///< seconds; 0: only what partition.h says
  std::uint64_t seed = 1;           ///< of the search
  bool json = false;
};

/// Says what dividing the fleet's model over its peers is worth
/// (study/predict/parallel/proposals.h), with the keys to set. Returns the exit code; throws
/// FleetError and std::runtime_error where the profile is none of this model, and
/// std::invalid_argument for a model without layers.
int divide_model(const Assembly& fleet, const ParallelQuestion& question);

}  // namespace gv::cli
