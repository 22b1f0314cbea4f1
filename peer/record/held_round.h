#pragma once

#include <optional>
#include <string>

#include "gossip/message.h"
#include "peer/record/run_folder.h"

namespace gv {

/// Keeps in held.json of a run which round's checkpoints all of its peers have and keep
/// (CheckpointStore::hold). A disk that does not take it is no error: the older one stays.
void write_held_round(const RunFolder& folder, Round round);

/// Returns from where a run goes on that has lost peers for good: what the others kept later they
/// have trained without them, and who was cut off may have the same rounds, trained alone. Nothing
/// where no peer was lost, each was started again, or no round is held.
std::optional<Round> round_before_loss(const std::string& run_folder);

}  // namespace gv
