#pragma once

#include <memory>
#include <optional>

#include "optim/data/data_facts.h"
#include "optim/data/dataset.h"
#include "optim/data/partition.h"
#include "optim/rng.h"
#include "peer/fleet/fleet.h"

namespace gv {

/// The data that a fleet trains on, and the rows of each peer.
struct LoadedData {
  TrainTest sets;                               ///< null pointers for the quadratic
  std::shared_ptr<const Dataset> validation{};  ///< null if the fleet has none
  Partition partition;  ///< one part per training peer; empty for the quadratic
};

/// Returns the generator for all random choices about a fleet's data.
inline Rng data_rng(const Fleet& fleet) {
  return Rng(fleet.seed).derive("data");
}

/// Reads or draws the data. If each peer has a table of its own, concatenates all tables; in the
/// process of peer `only`, reads only its own, whose rows then stand for those of all peers (a
/// server has no table, and reads the test set for its shape). Throws the readers' exceptions.
LoadedData load_data(const Fleet& fleet, std::optional<PeerId> only);

/// Returns the training set with the weights of its classes in its facts; unchanged if the fleet
/// sets none. Throws std::runtime_error for data without classes and for unknown classes.
std::shared_ptr<const Dataset> with_class_weights(const ClassWeights& weights,
                                                  std::shared_ptr<const Dataset> train);

/// Returns the fleet's validation set (`data.validation`), on which no peer trains; null if the
/// fleet has none. A part is taken out of the training set; a file is read like the training set,
/// by its columns, means and classes. `data` is the spec that was read. Throws the readers'
/// exceptions.
std::shared_ptr<const Dataset> take_validation(const Fleet& fleet,
                                               const DataSpec& data,
                                               TrainTest& sets);

/// Returns the facts of a fleet's table over the training samples of all files, which `standardize:
/// { file: ... }` reads. If each peer has a table of its own, categories and classes are the union
/// over the tables that are here, with those of the test set if one is not. Throws
/// std::runtime_error.
DataFacts pooled_facts(const Fleet& fleet);

}  // namespace gv
