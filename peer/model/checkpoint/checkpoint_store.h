#pragma once

#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "peer/model/checkpoint/checkpoint.h"
#include "peer/record/disk/disk.h"

namespace gv {

/// The checkpoints of one peer in a folder of its own: `NNNNNNNN.ckpt`, N the round. One that
/// save() has acknowledged survives power loss, and whatever happens to a later one.
///
/// The fleet can go on from a round only if every peer has it. So whoever sees all of them says by
/// hold() which round they have in common, and that one stays beside the newest ones until the next
/// is held: it is the first that is saved afterwards while nobody is missing, and stays as well.
/// A peer that trains on while another one is lost keeps what both of them have.
class CheckpointStore {
 public:
  /// `keep`: so many of the newest are kept; at least 1. Touches nothing yet. `disk` must outlive
  /// it.
  CheckpointStore(Disk& disk,
                  std::string folder,
                  std::string fleet,
                  std::string model,
                  PeerId peer,
                  std::size_t keep);

  /// Durable when it returns ""; then what is kept no longer goes. Otherwise the text names path
  /// and reason, those saved before are untouched, and no half file is left; the same round may be
  /// tried again. `alone`: somebody was missing to this peer since the last one.
  [[nodiscard]] Verdict save(Round round, std::vector<std::byte> state, bool alone = false);

  /// This round stays, and so does the first from `next` on that is saved while nobody is missing;
  /// until the next call. `round` 0: there is none yet. From any thread.
  void hold(Round round, Round next);
  /// The one that may be held next, once it is saved. From any thread.
  std::optional<Round> candidate() const;

  /// The newest one that is whole and this peer's. What is newer and was passed over is appended
  /// to `skipped`, as "path: reason".
  std::optional<Checkpoint> newest(std::vector<std::string>& skipped);
  /// The one of that round; the text names path and reason when it cannot be had.
  [[nodiscard]] Verdict at(Round round, Checkpoint& out);
  /// Lists the rounds of the checkpoints that are whole and this peer's, ascending.
  std::vector<Round> rounds();
  /// Removes what is newer than `round`, durably. Who goes on from an older checkpoint must call it
  /// first: otherwise newest() would come back to the course that was left.
  [[nodiscard]] Verdict drop_after(Round round);

 private:
  std::string path_of(Round round) const;
  Verdict write(const std::string& temporary, const Checkpoint& checkpoint);
  Verdict files(std::vector<Round>& rounds);
  void remove_left_over();
  void remove_old();

  Disk& disk_;
  std::string folder_;
  std::string fleet_;
  std::string model_;
  PeerId peer_;
  std::size_t keep_;
  mutable std::mutex mutex_;     ///< a job saves, and the loop holds
  Round held_ = 0;               ///< 0: none
  Round newest_ = 0;             ///< that was saved
  std::optional<Round> next_{};  ///< a candidate is wanted from here on; nothing: nobody holds any
  std::optional<Round> candidate_{};
};

}  // namespace gv
