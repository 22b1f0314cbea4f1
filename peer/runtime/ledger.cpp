#include "peer/runtime/ledger.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <map>
#include <stdexcept>
#include <string_view>
#include <tuple>
#include <utility>

#include <fmt/format.h>
#include <xxhash.h>

#include "optim/printable.h"
#include "peer/runtime/assembly/assembly.h"

namespace gv {
namespace {

namespace fs = std::filesystem;
constexpr const char* closing = "end";
constexpr std::size_t most_shown = 200;  ///< bytes of a file's text

/// Makes the text fit to print, on one line.
std::string shown(std::string text) {
  text = printable(text, most_shown);
  std::ranges::replace(text, '\n', ' ');
  return text;
}

std::uint64_t hash_of(const Payload& payload) {
  return XXH3_64bits(payload->data(), payload->size());
}

/// Returns false if the line is incomplete, or a number exceeds its type (undefined in sscanf).
bool parse(std::string_view line, LedgerEntry& e) {
  const auto take = [&line](auto& number, int base) {
    const char* const end = line.data() + line.size();
    const auto [last, error] = std::from_chars(line.data(), end, number, base);
    if (error != std::errc{} || last == end || *last != ' ') return false;
    line.remove_prefix(static_cast<std::size_t>(last - line.data()) + 1);
    return true;
  };
  std::uint32_t weight = 0;
  std::uint64_t bound = 0;
  const bool whole = take(e.peer, 10) && take(e.incarnation, 16) && take(e.with, 10) &&
                     take(e.with_incarnation, 16) && take(e.exchange.value, 10) &&
                     take(e.part, 10) && take(weight, 16) && take(e.ours, 16) &&
                     take(e.theirs, 16) && take(bound, 16);
  e.weight = std::bit_cast<float>(weight);
  e.bound = std::bit_cast<double>(bound);
  return whole && line == ".";
}

/// Parses "ledger-<incarnation>.txt"; the folder may contain files with other names.
std::uint64_t incarnation_of(const fs::path& path) {
  const std::string digits = path.stem().string().substr(std::string("ledger-").size());
  const char* const end = digits.data() + digits.size();
  std::uint64_t incarnation = 0;
  const auto [last, error] = std::from_chars(digits.data(), end, incarnation, 16);
  if (error != std::errc{} || last != end)
    throw std::runtime_error(shown(path.string()) +
                             ": its name is not that of a ledger; remove it");
  return incarnation;
}

void read_ledger(const fs::path& path, Ledgers& ledgers) {
  std::ifstream in(path);
  std::string line;
  bool closed = false;
  for (std::size_t number = 1; std::getline(in, line); ++number) {
    LedgerEntry entry;
    if (parse(line, entry)) {
      ledgers.entries.push_back(entry);
    } else if (line == closing) {
      closed = true;
    } else if (in.peek() != std::ifstream::traits_type::eof()) {
      throw std::runtime_error(
          fmt::format("{}:{}: not a line of a ledger: {}", path.string(), number, shown(line)));
    }
  }
  const std::uint64_t incarnation = incarnation_of(path);
  ledgers.here.insert(incarnation);
  if (!closed) ledgers.dead.insert(incarnation);
}

/// Averaging settles exchanges. A row that mixes, declares no traffic and has channels averages by
/// messages of its own instead, such as pushes.
bool makes_exchanges(const AlgorithmRow& row) {
  return row.mixes && (row.traffic != nullptr || row.channels == nullptr);
}

struct Edges {
  std::size_t one_way = 0, two_way = 0;  ///< each counted at the end that receives
};

Edges edges_of(const Assembly& fleet) {
  Edges edges;
  const bool directed = fleet.schedule && fleet.schedule->directed();
  for (PeerId i = 0; i < fleet.fleet.trainers(); ++i) {
    const Neighborhood row = fleet.neighborhood(i);
    for (const PeerId j : row.peers)
      !directed&& std::ranges::binary_search(row.receivers, j) ? ++edges.two_way : ++edges.one_way;
  }
  return edges;
}

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

LedgerFile::LedgerFile(const std::string& folder, PeerId peer, std::uint64_t incarnation)
    : peer_(peer), incarnation_(incarnation) {
  const std::string path = fmt::format("{}/ledger-{:016x}.txt", folder, incarnation);
  file_ = std::fopen(path.c_str(), "we");
  if (file_ == nullptr) throw std::runtime_error(path + ": cannot be written");
}

LedgerFile::~LedgerFile() {
  std::fclose(file_);
}

void LedgerFile::write(const Settlement& s, std::uint64_t with_incarnation) {
  fmt::print(file_, "{} {:x} {} {:x} {} {} {:x} {:x} {:x} {:x} .\n", peer_, incarnation_, s.with,
             with_incarnation, s.exchange.value, s.part, std::bit_cast<std::uint32_t>(s.weight),
             hash_of(s.ours), hash_of(s.theirs), std::bit_cast<std::uint64_t>(s.bound));
  std::fflush(file_);
}

void LedgerFile::close() {
  fmt::print(file_, "{}\n", closing);
  std::fflush(file_);
}

Ledgers read_ledgers(const std::string& run_folder) {
  Ledgers ledgers;
  for (const auto& peer : fs::directory_iterator(run_folder + "/peers")) {
    for (const auto& file : fs::directory_iterator(peer)) {
      if (file.path().filename().string().starts_with("ledger-")) read_ledger(file, ledgers);
    }
  }
  return ledgers;
}

std::string ledger_gap(const Assembly& fleet) {
  const AlgorithmRow& row = *fleet.algorithm;
  if (!fleet.fleet.faults.ledger) return "";
  if (!makes_exchanges(row))
    return fmt::format(
        "`faults.ledger` records nothing: {} keeps no ledger; d-psgd does, and so do the other "
        "methods that average with all neighbours on undirected graphs",
        row.kind);
  const auto [one_way, two_way] = edges_of(fleet);
  if (one_way == 0) return "";
  const std::string both =
      "a ledger is compared with that of the other end, which needs edges that carry both ways: "
      "take an undirected graph, such as `ring`";
  if (two_way == 0)
    return fmt::format("`faults.ledger` records nothing of {} on this directed graph: {}", row.kind,
                       both);
  return fmt::format("`faults.ledger` leaves out {} of {} messages a round of {}: {}", one_way,
                     one_way + two_way, row.kind, both);
}

LedgerAudit audit(const Ledgers& ledgers) {
  return Comparison(ledgers).result();
}

std::string to_text(const LedgerFinding& finding) {
  return fmt::format("peers {} and {}: {} {}; the first: {}", finding.low, finding.high,
                     counted(finding.pieces, "piece"), finding.kind, finding.first);
}

}  // namespace gv
