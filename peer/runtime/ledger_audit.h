#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "peer/runtime/ledger.h"

namespace gv {

/// Returns whether a piece of an exchange may count at one end only: where the process at either
/// end has died. A survivor applies what the dead one sent and did not live to apply, and a process
/// may die right after it has applied what its neighbour has not heard yet.
constexpr bool may_count_at_one_end(bool one_has_died, bool other_has_died) {
  return one_has_died || other_has_died;
}

/// A finding of what must not be, of one kind and one pair of peers.
struct LedgerFinding {
  std::string kind;  ///< as "applied at one end only"
  PeerId low = 0, high = 0;
  std::uint64_t pieces = 0;
  std::string first;  ///< the first of them: exchange, piece, and whose book it stands in
};

struct LedgerAudit {
  std::uint64_t both = 0;       ///< pieces that stand in both books
  std::uint64_t one_sided = 0;  ///< in one: the process at one of the two ends has died
  std::uint64_t unchecked = 0;  ///< in one: the other book is not here
  std::set<PeerId> missing;     ///< whose book is not here, though others speak of it
  std::vector<LedgerFinding> findings;
};

/// Compares the books of both ends of every edge: each piece once, in order, with the same weight
/// and the same two vectors. A book that is not here says nothing, neither for nor against.
LedgerAudit audit(const Ledgers& ledgers);

/// The finding as one line, without its end.
std::string to_text(const LedgerFinding& finding);

}  // namespace gv
