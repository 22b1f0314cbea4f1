#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <utility>

#include "peer/wire/lend/descriptor.h"
#include "peer/wire/lend/region.h"

namespace gv {

/// The message by which two processes of one machine hand each other a region over a Unix socket:
/// beside its file, who it is of and what it holds.
struct Offer {
  static constexpr std::uint64_t current = 0x31534d5647;  // "GVMS1"
  std::uint64_t version = current;
  std::uint64_t incarnation = 0;
  std::uint64_t bytes = 0;
  std::uint32_t blocks = 0;
  std::uint32_t rows = 0;
  std::uint32_t peer = 0;
  std::uint32_t row = 0;  ///< the receiver's, in the offered region

  RegionShape shape() const { return {.blocks = blocks, .rows = rows, .bytes = bytes}; }
};

/// Sends without waiting; false: it did not go out whole.
bool send_offer(int socket, const Offer& offer, int file);
/// Returns what has come; nothing: it is no offer with a file.
std::optional<std::pair<Offer, Descriptor>> receive_offer(int socket);
/// Returns whether the process at the other end is the same user's; only then does memory go to it.
bool same_user(int socket);

}  // namespace gv
