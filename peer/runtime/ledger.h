#pragma once

#include <cstdint>
#include <cstdio>
#include <set>
#include <string>
#include <vector>

#include "gossip/seam/journal.h"

namespace gv {

class Assembly;

/// One line of a peer's ledger: an applied piece of an exchange, with hashes of both vectors.
struct LedgerEntry {
  PeerId peer = 0;
  std::uint64_t incarnation = 0;
  PeerId with = 0;
  std::uint64_t with_incarnation = 0;
  ExchangeNumber exchange;
  std::uint32_t part = 0;
  float weight = 0;
  std::uint64_t ours = 0, theirs = 0;  ///< XXH3-64
  double bound = unbounded;            ///< the longest distance that is applied in full
};

/// The ledger of one process (`faults: { ledger: true }`), written line by line to survive a kill.
class LedgerFile {
 public:
  /// Writes `folder`/ledger-<incarnation>.txt. Throws std::runtime_error with the path.
  LedgerFile(const std::string& folder, PeerId peer, std::uint64_t incarnation);
  ~LedgerFile();
  LedgerFile(const LedgerFile&) = delete;
  LedgerFile& operator=(const LedgerFile&) = delete;

  void write(const Settlement& settlement, std::uint64_t with_incarnation);
  /// Marks a regular end; a ledger without this mark is that of a dead process.
  void close();

 private:
  PeerId peer_;
  std::uint64_t incarnation_;
  std::FILE* file_;
};

struct Ledgers {
  std::vector<LedgerEntry> entries;
  std::set<std::uint64_t> here{};  ///< incarnations whose ledgers were read
  std::set<std::uint64_t> dead{};  ///< those with ledgers that were not closed
};

/// Reads all ledgers under a run folder's peers/, without incomplete last lines left by killed
/// processes. Throws std::runtime_error with file and line for other lines that cannot be parsed.
Ledgers read_ledgers(const std::string& run_folder);

/// Returns a sentence on messages without a ledger although `faults.ledger` is set, and on a
/// remedy; "" if all are recorded, or the fleet keeps none.
std::string ledger_gap(const Assembly& fleet);

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
