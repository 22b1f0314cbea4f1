#pragma once

#include <cstdint>
#include <memory>

#include "optim/models/objective.h"

namespace gv {

/// The false part of what a peer says of its gradients; a factor alone is also how an honest peer
/// counts by its samples.
struct FalseGradient {
  float factor = 1;  ///< times each of them
  /// The one of them, counted from 0, each coordinate of which is `value`; ~0: none.
  std::uint64_t at = ~std::uint64_t{0};
  float value = 0;
};

/// The objective with false gradients; its losses and evaluations are true.
std::unique_ptr<Objective> make_false(std::unique_ptr<Objective> honest, FalseGradient lie);

}  // namespace gv
