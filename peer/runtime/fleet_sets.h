#pragma once

#include <memory>

#include "optim/data/data_facts.h"
#include "optim/data/dataset.h"
#include "peer/fleet/fleet.h"

namespace gv {

/// Returns the training set with the weights of its classes, which its facts hold; as it is where
/// the fleet asks for none. Throws std::runtime_error for data without classes and for a class that
/// there is not.
std::shared_ptr<const Dataset> with_class_weights(const ClassWeights& weights,
                                                  std::shared_ptr<const Dataset> train);

/// Returns the fleet's validation set (`data.validation`), of which nobody trains on a sample: the
/// part is taken out of the training set; a file is read as the training set was, by its columns,
/// means and classes. `data`: what was read. Null where the fleet has none. Throws what readers
/// throw.
std::shared_ptr<const Dataset> take_validation(const Fleet& fleet,
                                               const DataSpec& data,
                                               TrainTest& sets);

/// Returns what a fleet's table says of its columns, over the training samples of all files: what
/// `standardize: { file: ... }` reads. Where each peer has a table of its own, categories and
/// classes are whatever any of them has, and every file has to be here. Throws std::runtime_error.
DataFacts pooled_facts(const Fleet& fleet);

}  // namespace gv
