#pragma once

#include <cstdint>
#include <cstdio>
#include <set>
#include <string>
#include <vector>

#include "gossip/journal.h"

namespace gv {

class Assembly;

/// One line of a peer's book: a piece of an exchange that it applied, as hashes of the two vectors.
struct LedgerEntry {
  PeerId peer = 0;
  std::uint64_t incarnation = 0;
  PeerId with = 0;
  std::uint64_t with_incarnation = 0;
  ExchangeNumber exchange;
  std::uint32_t part = 0;
  float weight = 0;
  std::uint64_t ours = 0, theirs = 0;  ///< XXH3-64
  double bound = unbounded;            ///< the longest distance that counts whole
};

/// The book of one process, written line by line so that it tells of a killed one, too. For audits;
/// `faults: { ledger: true }`.
class LedgerFile {
 public:
  /// Writes `folder`/ledger-<incarnation>.txt. Throws std::runtime_error with the path.
  LedgerFile(const std::string& folder, PeerId peer, std::uint64_t incarnation);
  ~LedgerFile();
  LedgerFile(const LedgerFile&) = delete;
  LedgerFile& operator=(const LedgerFile&) = delete;

  void write(const Settlement& settlement, std::uint64_t with_incarnation);
  /// The process ends as it should; a book without this is that of a dead one.
  void close();

 private:
  PeerId peer_;
  std::uint64_t incarnation_;
  std::FILE* file_;
};

struct Ledgers {
  std::vector<LedgerEntry> entries;
  std::set<std::uint64_t> here{};  ///< incarnations whose books were read
  std::set<std::uint64_t> dead{};  ///< of these, those that did not close their books
};

/// All books under a run folder's peers/. A last line that its process did not live to finish is
/// left out. Throws std::runtime_error naming a file and line that make no sense.
Ledgers read_ledgers(const std::string& run_folder);

/// Returns which messages of the fleet no ledger records, although `faults.ledger` asks for it, and
/// what has ledgers; "" if they record all, or the fleet keeps none.
std::string ledger_gap(const Assembly& fleet);

}  // namespace gv
