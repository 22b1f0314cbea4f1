#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "optim/data/dataset.h"
#include "optim/rng.h"

namespace gv {

/// The training samples without those of the validation set, and that set.
struct TrainValidation {
  std::shared_ptr<const Dataset> train;
  std::shared_ptr<const Dataset> validation;
};

/// Takes a part (0 to 1) of the training samples out, drawn at random by held_out_rows; for a text
/// its last characters, since overlapping windows share text. Throws std::runtime_error if there
/// are too few samples for both.
TrainValidation set_apart(const Dataset& train, double part, Rng rng);

/// Returns a data set without its samples: shape, scale and facts.
std::shared_ptr<Dataset> without_samples(const Dataset& data);

/// Returns the numbers, ascending, of the samples that are not trained on: a part (0 to 1) of all
/// `rows`, drawn at random without replacement; at least one, and at least one sample remains.
/// `rows` is 2 or more.
std::vector<std::uint32_t> held_out_rows(std::uint32_t rows, double part, Rng rng);

}  // namespace gv
