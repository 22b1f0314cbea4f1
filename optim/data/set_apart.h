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

/// Takes a part (0 to 1) of the training samples out, drawn at random (held_out.h); of a text its
/// last characters, since windows that overlap would know each other. Throws std::runtime_error
/// where there are too few samples for both.
TrainValidation set_apart(const Dataset& train, double part, Rng rng);

/// Returns what a data set says of its samples, such as their shape and scale, with no sample.
std::shared_ptr<Dataset> without_samples(const Dataset& data);

}  // namespace gv
