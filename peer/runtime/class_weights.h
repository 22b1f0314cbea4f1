#pragma once

#include <memory>

#include "optim/data/dataset.h"
#include "peer/fleet/fleet.h"

namespace gv {

/// Returns the training set with the weights of its classes, which its facts hold; as it is where
/// the fleet asks for none. Throws std::runtime_error for data without classes and for a class that
/// there is not.
std::shared_ptr<const Dataset> with_class_weights(const ClassWeights& weights,
                                                  std::shared_ptr<const Dataset> train);

}  // namespace gv
