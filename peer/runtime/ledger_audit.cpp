#include "peer/runtime/ledger_audit.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include <fmt/format.h>

namespace gv {
namespace {

/// The line of process `of` about a piece that it exchanged with process `with`.
struct Key {
  std::uint64_t of, with;
  ExchangeNumber exchange;
  std::uint32_t part;
  auto operator<=>(const Key&) const = default;
};

Key key(const LedgerEntry& e) {
  return {e.incarnation, e.with_incarnation, e.exchange, e.part};
}
Key other_end(const Key& k) {
  return {k.with, k.of, k.exchange, k.part};
}

bool opposite(const LedgerEntry& a, const LedgerEntry& b) {
  return a.weight == b.weight && a.bound == b.bound && a.ours == b.theirs && a.theirs == b.ours;
}

class Comparison {
 public:
  explicit Comparison(const Ledgers& ledgers) : ledgers_(ledgers) {}

  LedgerAudit result() {
    for (const LedgerEntry& e : ledgers_.entries)
      if (!books_.emplace(key(e), &e).second) find("applied twice", e);
    for (const auto& [key, entry] : books_) look_at(key, *entry);
    for (auto& [pair, finding] : findings_) result_.findings.push_back(std::move(finding));
    return std::move(result_);
  }

 private:
  void look_at(const Key& key, const LedgerEntry& entry) {
    if (!in_turn(key)) find("applied out of turn", entry);
    const auto other = books_.find(other_end(key));
    if (other == books_.end()) return look_at_one_sided(key, entry);
    if (key.of >= key.with) return;
    ++result_.both;
    if (!opposite(entry, *other->second)) find("applied as flows that are not opposite", entry);
  }

  void look_at_one_sided(const Key& key, const LedgerEntry& entry) {
    if (!ledgers_.here.contains(key.with)) {
      ++result_.unchecked;
      result_.missing.insert(entry.with);
    } else if (may_count_at_one_end(ledgers_.dead.contains(key.of),
                                    ledgers_.dead.contains(key.with))) {
      ++result_.one_sided;
    } else {
      find("applied at one end only", entry);
    }
  }

  /// Returns whether the ledger has the preceding piece; for piece 0, the preceding exchange.
  bool in_turn(const Key& key) const {
    if (key.exchange.value == 0 && key.part == 0) return true;
    if (key.part > 0) return books_.contains({key.of, key.with, key.exchange, key.part - 1});
    return books_.contains({key.of, key.with, ExchangeNumber{key.exchange.value - 1}, 0});
  }

  void find(const char* kind, const LedgerEntry& e) {
    const auto [low, high] = std::minmax(e.peer, e.with);
    LedgerFinding& finding = findings_[{low, high, kind}];
    if (finding.pieces++ > 0) return;
    finding.kind = kind;
    finding.low = low;
    finding.high = high;
    finding.first = fmt::format("exchange {}, piece {}, in the book of peer {} ({:016x})",
                                e.exchange.value, e.part, e.peer, e.incarnation);
  }

  const Ledgers& ledgers_;
  std::map<Key, const LedgerEntry*> books_;
  std::map<std::tuple<PeerId, PeerId, std::string>, LedgerFinding> findings_;
  LedgerAudit result_;
};

}  // namespace

LedgerAudit audit(const Ledgers& ledgers) {
  return Comparison(ledgers).result();
}

std::string to_text(const LedgerFinding& finding) {
  return fmt::format("peers {} and {}: {} {} {}; the first: {}", finding.low, finding.high,
                     finding.pieces, finding.pieces == 1 ? "piece" : "pieces", finding.kind,
                     finding.first);
}

}  // namespace gv
