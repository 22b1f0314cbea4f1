#pragma once

#include <memory>

#include "optim/data/dataset.h"
#include "peer/fleet/fleet.h"

namespace gv {

/// Returns the fleet's validation set (`data.validation`), of which nobody trains on a sample: the
/// part is taken out of the training set; a file is read as the training set was, by its columns,
/// means and classes. `data`: what was read. Null where the fleet has none. Throws what readers
/// throw.
std::shared_ptr<const Dataset> take_validation(const Fleet& fleet,
                                               const DataSpec& data,
                                               TrainTest& sets);

}  // namespace gv
