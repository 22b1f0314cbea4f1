#pragma once

#include <memory>
#include <vector>

#include "optim/train/replica.h"

// Wrong arithmetic of the exchange.

namespace gv::mutants {

/// Bugs in the treatment of late flows, and of values that are not finite.
enum class Arithmetic {
  drop_late_flow,    ///< a late peer uses its own value, and the other end does not
  apply_late_twice,  ///< a late half counts twice
  late_against_x,    ///< a late half is mixed against the current x, not against what was sent
  mix_not_finite,    ///< values that are not finite are mixed in as they are
};

/// Returns a replica with this bug, otherwise like `real`.
std::unique_ptr<Replica> make_bad_replica(std::unique_ptr<Replica> real, Arithmetic bug);

}  // namespace gv::mutants
