#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "peer/runtime/ledger.h"

namespace gv {

/// Returns whether a piece of an exchange may count at one end only: if the process at either end
/// has died. A survivor applies halves that the dead process sent but did not live to apply, and a
/// process may die after applying a piece, before its neighbour receives the other half.
constexpr bool may_count_at_one_end(bool one_has_died, bool other_has_died) {
  return one_has_died || other_has_died;
}

/// A violation of one kind for one pair of peers.
struct LedgerFinding {
  std::string kind;  ///< such as "applied at one end only"
  PeerId low = 0, high = 0;
  std::uint64_t pieces = 0;
  std::string first;  ///< the first piece: its exchange, number and ledger
};

struct LedgerAudit {
  std::uint64_t both = 0;       ///< pieces in both ledgers
  std::uint64_t one_sided = 0;  ///< pieces in one ledger: a process at one end has died
  std::uint64_t unchecked = 0;  ///< pieces in one ledger: the other one is not here
  std::set<PeerId> missing;     ///< peers without a ledger here that other ledgers name
  std::vector<LedgerFinding> findings;
};

/// Compares the ledgers of both ends of every edge: each piece once, in order, with the same weight
/// and the same two vectors. A missing ledger is no evidence in either direction.
LedgerAudit audit(const Ledgers& ledgers);

/// The finding as one line, without a newline.
std::string to_text(const LedgerFinding& finding);

}  // namespace gv
