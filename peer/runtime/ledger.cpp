#include "peer/runtime/ledger.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string_view>

#include <fmt/format.h>
#include <xxhash.h>

#include "optim/printable.h"
#include "peer/runtime/assembly.h"

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

}  // namespace gv
