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

/// Finds out who should stand where on the fleet's graph (study/predict/forecast/proposal.h),
/// writes that graph and says what it saves, and which other ways are faster
/// (study/predict/forecast/proposal.h), as keys to set; `sets`: those that the fleet was read with.
/// Returns the exit code; throws std::runtime_error where the file cannot be written.
int place_peers(const Assembly& fleet,
                const std::vector<std::string>& sets,
                const std::string& file,
                bool json);

}  // namespace gv::cli
