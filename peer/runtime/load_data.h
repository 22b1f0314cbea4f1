#pragma once

#include <optional>

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

}  // namespace gv
