#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "gossip/message.h"
#include "optim/error_text.h"

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

}  // namespace gv
