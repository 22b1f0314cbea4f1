#pragma once

#include <optional>

#include "optim/data/dataset.h"
#include "optim/data/partition.h"
#include "optim/rng.h"
#include "peer/fleet/fleet.h"

namespace gv {

/// The data that a fleet trains on, and who has which rows of them.
struct LoadedData {
  TrainTest sets;                               ///< null pointers for the quadratic
  std::shared_ptr<const Dataset> validation{};  ///< null where the fleet has none
  Partition partition;  ///< one part for each that trains; empty for the quadratic
};

/// Returns the generator that all data of a fleet are drawn by.
inline Rng data_rng(const Fleet& fleet) {
  return Rng(fleet.seed).derive("data");
}

/// Reads or draws it. Where each peer has a table of its own: all of them, one behind the other;
/// or, for the process of peer `only`, its own alone, all rows of which are then everybody's (a
/// server has none, and takes the test set for the shape of it). Throws what readers throw.
LoadedData load_data(const Fleet& fleet, std::optional<PeerId> only);

}  // namespace gv
