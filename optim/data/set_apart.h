#pragma once

#include <memory>

#include "optim/data/dataset.h"
#include "optim/rng.h"

namespace gv {

/// The training samples without those of the validation set, and that set.
struct TrainValidation {
  std::shared_ptr<const Dataset> train;
  std::shared_ptr<const Dataset> validation;
};

/// Takes a part (0 to 1) of the training samples out, drawn at random (held_out.h); for a text its
/// last characters, since overlapping windows share text. Throws std::runtime_error if there are
/// too few samples for both.
TrainValidation set_apart(const Dataset& train, double part, Rng rng);

/// Returns a data set without its samples: shape, scale and facts.
std::shared_ptr<Dataset> without_samples(const Dataset& data);

}  // namespace gv
