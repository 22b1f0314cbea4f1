#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "gossip/message.h"
#include "optim/error_text.h"
#include "peer/record/disk/posix_disk.h"

namespace gv {

// Grammar of a checkpoint, little-endian:
//   checkpoint := head fleet model state check
//   head       := magic:u64 version:u32 peer:u32 round:u64 fleet_bytes:u32 model_bytes:u32
//                 state_bytes:u64
//   fleet      := digest in hex, fleet_bytes long           model := as fleet
//   state      := what the peer saved (optim/state.h), state_bytes long
//   check      := 16 bytes, XXH3-128 of all that stands before, in its canonical (big-endian) form
// Nothing may follow. The checksum is there for damage, not for malice.
inline constexpr std::uint64_t checkpoint_magic = 0x314b4843454e5647;  // "GVNECHK1"
inline constexpr std::uint32_t checkpoint_version = 1;
inline constexpr std::size_t checkpoint_head_bytes = 40;
inline constexpr std::size_t checkpoint_check_bytes = 16;

/// One peer's training state after `round` rounds.
struct Checkpoint {
  std::string fleet;  ///< digest of the resolved fleet file; 32 hex digits
  std::string model;  ///< digest of the parameter names and shapes; 32 hex digits
  PeerId peer = 0;
  Round round = 0;
  std::vector<std::byte> state;
};

std::vector<std::byte> encode(const Checkpoint& checkpoint);
/// Believes nothing before the lengths fit and the checksum agrees; `out` is set only then.
[[nodiscard]] Verdict decode(std::span<const std::byte> bytes, Checkpoint& out);

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

/// Says why a peer may not keep its books in this folder, nor go on from the checkpoints in it: it
/// is a link, so that somebody else says where it leads, or everybody may write there, so that
/// everybody says what the peer goes on from. "": it may, or there is no such folder yet; ours are
/// made for their owner alone. Looks at the folder and its `checkpoints`, not above them.
Verdict folder_objection(const std::string& folder);

}  // namespace gv
