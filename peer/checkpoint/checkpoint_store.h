#pragma once

#include <optional>
#include <string>
#include <vector>

#include "peer/checkpoint/checkpoint.h"
#include "peer/checkpoint/disk.h"

namespace gv {

/// The checkpoints of one peer in a folder of its own: `NNNNNNNN.ckpt`, N the round. One that
/// save() has acknowledged survives power loss, and whatever happens to a later one.
class CheckpointStore {
 public:
  /// `keep`: so many are kept, the newest; at least 1. Touches nothing yet. `disk` must outlive it.
  CheckpointStore(Disk& disk,
                  std::string folder,
                  std::string fleet,
                  std::string model,
                  PeerId peer,
                  std::size_t keep);

  /// Durable when it returns ""; then only the `keep` newest of up to this round stay. Otherwise
  /// the text names path and reason, those saved before are untouched, and no half file is left;
  /// the same round may be tried again.
  [[nodiscard]] Verdict save(Round round, std::vector<std::byte> state);

  /// The newest one that is whole and this peer's. What is newer and was passed over is appended
  /// to `skipped`, as "path: reason".
  std::optional<Checkpoint> newest(std::vector<std::string>& skipped);
  /// The one of that round; the text names path and reason when it cannot be had.
  [[nodiscard]] Verdict at(Round round, Checkpoint& out);
  /// Of the checkpoints that are whole and this peer's, ascending.
  std::vector<Round> rounds();
  /// Removes what is newer than `round`, durably. Who goes on from an older checkpoint must call it
  /// first: otherwise newest() would come back to the course that was left.
  [[nodiscard]] Verdict drop_after(Round round);

 private:
  std::string path_of(Round round) const;
  Verdict write(const std::string& temporary, const Checkpoint& checkpoint);
  Verdict files(std::vector<Round>& rounds);
  void remove_left_over();
  void remove_old(Round newest);

  Disk& disk_;
  std::string folder_;
  std::string fleet_;
  std::string model_;
  PeerId peer_;
  std::size_t keep_;
};

}  // namespace gv
