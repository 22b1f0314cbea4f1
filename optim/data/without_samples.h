#pragma once

#include <memory>

#include "optim/data/dataset.h"

namespace gv {

/// Returns what a data set says of its samples, such as their shape and scale, with no sample.
std::shared_ptr<Dataset> without_samples(const Dataset& data);

}  // namespace gv
