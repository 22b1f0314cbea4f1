#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "gossip/seam/message.h"
#include "optim/error_text.h"
#include "peer/record/disk/posix_disk.h"

namespace gv {

// Grammar of a checkpoint, little-endian:
//   checkpoint := head fleet model state check
//   head       := magic:u64 version:u32 peer:u32 round:u64 fleet_bytes:u32 model_bytes:u32
//                 state_bytes:u64
//   fleet      := digest in hex, fleet_bytes long           model := as fleet
//   state      := the peer's state (optim/state.h), state_bytes long
//   check      := 16 bytes, XXH3-128 of all preceding bytes, in its canonical (big-endian) form
// Nothing may follow. The checksum detects damage, not malice.
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
/// Uses nothing before the lengths and the checksum agree; sets `out` only then.
[[nodiscard]] Verdict decode(std::span<const std::byte> bytes, Checkpoint& out);

/// The checkpoints of one peer in a folder of its own: `NNNNNNNN.ckpt`, N the round. A checkpoint
/// that save() has acknowledged survives power loss and failures of later saves.
///
/// A fleet can resume only at a round that every peer has. So the process that sees all peers
/// passes their common round to hold(), which keeps that checkpoint until the next one is held. The
/// next candidate, the first one saved afterwards without a missing peer, is kept as well. A peer
/// that trains on after another is lost thus keeps the round that both have.
class CheckpointStore {
 public:
  /// `keep` (at least 1) is the number of newest checkpoints to keep. `disk` must outlive the
  /// store.
  CheckpointStore(Disk& disk,
                  std::string folder,
                  std::string fleet,
                  std::string model,
                  PeerId peer,
                  std::size_t keep);

  /// Saves durably, then removes old checkpoints. Returns "", or a text with path and reason: then
  /// earlier checkpoints are untouched, no partial file is left, and the same round may be retried.
  /// `alone` is true if a neighbour was missing since the last save.
  [[nodiscard]] Verdict save(Round round, std::vector<std::byte> state, bool alone = false);

  /// Keeps this round, and the first one from `next` on that is saved without a missing neighbour,
  /// until the next call. `round` is 0 if there is none yet. From any thread.
  void hold(Round round, Round next);
  /// The round that may be held next, once it is saved. From any thread.
  std::optional<Round> candidate() const;

  /// Returns the newest whole checkpoint of this peer. Appends newer files that were skipped to
  /// `skipped`, as "path: reason".
  std::optional<Checkpoint> newest(std::vector<std::string>& skipped);
  /// Reads the checkpoint of that round; returns a text with path and reason if that fails.
  [[nodiscard]] Verdict at(Round round, Checkpoint& out);
  /// Lists the rounds of the whole checkpoints of this peer, ascending.
  std::vector<Round> rounds();
  /// Removes checkpoints after `round`, durably. Needed before resuming from an older checkpoint:
  /// otherwise newest() would later return to the abandoned course.
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
  Round held_ = 0;               ///< 0 for none
  Round newest_ = 0;             ///< last saved
  std::optional<Round> next_{};  ///< first round for a candidate; none if hold() is unused
  std::optional<Round> candidate_{};
};

/// Returns why a peer may not keep its files in this folder, nor resume from its checkpoints: the
/// folder is a link, whose target another user may choose, or every user may write to it and so
/// choose the state to resume from. "" if it may, or the folder does not exist yet; ours are
/// created for their owner alone. Checks the folder and its `checkpoints`, not the folders above.
Verdict folder_objection(const std::string& folder);

}  // namespace gv
