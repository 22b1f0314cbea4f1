#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "peer/fleet/model_profile.h"
#include "peer/runtime/assembly.h"

namespace gv {

struct ProfileOptions {
  std::vector<std::uint32_t> rows{1, 2, 4, 8, 16, 32};  ///< of a microbatch, ascending
  int threads = 1;
  double seconds = 1;  ///< how long to measure each of them
};

/// Measures what the pieces of the fleet's model take, on this machine's processor. In each
/// repetition minibatches of all sizes go through all pieces and back, as in a chain on one
/// machine, and once through the whole model. Of each the lower quartile counts, since others on
/// the machine only make it slower; those of the pieces are then scaled to the whole. `on_rows` is
/// called for each number of rows, with the seconds of the whole model. Throws
/// std::invalid_argument for a model without layers.
ModelProfile profile_model(const Assembly& fleet,
                           const ProfileOptions& options,
                           const std::function<void(std::uint32_t rows, double seconds)>& on_rows);

}  // namespace gv
