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

}  // namespace gv
