#pragma once

#include <cstdint>

namespace gv {

/// The note that a frame carries for a payload: its place in the sender's region (region.h), for a
/// neighbour that has mapped it. Believed only as far as Borrower::borrow checks it.
struct Loan {
  std::uint32_t block = 0;
  std::uint64_t offset = 0;      ///< from the beginning of the region; a multiple of 64
  std::uint64_t bytes = 0;       ///< of the payload; not 0
  std::uint64_t generation = 0;  ///< which use of the block it is
};

}  // namespace gv
