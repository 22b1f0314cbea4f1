#pragma once

#include <span>

#include "optim/data/data_facts.h"
#include "optim/data/dataset.h"

namespace gv {

/// Returns what the loss of a training sample is multiplied by, for each class; empty: all count
/// alike.
inline std::span<const float> class_weights(const Dataset& train) {
  if (!train.facts) return {};
  return train.facts->class_weights;
}

}  // namespace gv
