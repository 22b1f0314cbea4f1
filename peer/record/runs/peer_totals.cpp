#include "peer/record/runs/peer_totals.h"

#include <algorithm>
#include <cmath>
#include <filesystem>

#include <fmt/format.h>

#include "graph/formats/graph_file.h"
#include "graph/spec/parameters.h"
#include "optim/printable.h"
#include "peer/fleet/json/json.h"
#include "peer/record/report/metrics.h"

namespace gv {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t largest_totals = 8U << 20;
constexpr std::uint64_t largest_rows = 64U << 20;
constexpr std::size_t most_bins = 64;
constexpr int most_lives = 10'000;
constexpr double largest_peer = 1e9;

std::string peer_folder(const std::string& run, std::uint64_t peer) {
  return fmt::format("{}/peers/{:03}", run, peer);
}

std::uint64_t peer_number(const std::string& name) {
  if (const auto number = as_number<std::uint64_t>(name)) return *number;
  throw std::runtime_error("`" + name + "` is no peer");
}

double count_of(const JsonValue& bin) {
  const auto count = as_number<double>(bin.text);
  if (bin.kind != JsonValue::Kind::number || !count || *count < 0)
    refuse_json("staleness", "a list of counts");
  return *count;
}

PeerTotals totals_of(const JsonValue& json) {
  if (const std::string schema = stored_text(json, "schema"); schema != "grapevine.totals/1")
    throw std::runtime_error("the schema is " + schema + ", not grapevine.totals/1");
  PeerTotals totals;
  totals.peer = json_integer<std::uint64_t>(json, "peer");
  totals.seconds = stored_amount(json, "seconds");
  const auto states = parse_activities(json, "states");
  if (!states) refuse_json("states", "an object of seconds");
  totals.states = *states;
  totals.hidden_wire = stored_maybe(json, "hidden_wire").value_or(0);
  totals.cpu_seconds = stored_maybe(json, "cpu_seconds");
  totals.peak_memory = stored_maybe(json, "peak_memory_bytes");
  if (const JsonValue* all = json.find("neighbours"))
    for (const auto& [name, value] : all->members)
      totals.neighbours[peer_number(name)] = {
          .late = stored_maybe(value, "late").value_or(0),
          .wire = stored_maybe(value, "wire").value_or(0),
          .longest_wait = stored_maybe(value, "longest_wait").value_or(0),
          .exchanges = stored_maybe(value, "exchanges").value_or(0)};
  if (const JsonValue* bins = json.find("staleness"))
    for (const JsonValue& bin : bins->items) totals.staleness.push_back(count_of(bin));
  if (totals.staleness.size() > most_bins) refuse_json("staleness", "a list of at most 64 counts");
  return totals;
}

/// Reads the matrices PEER/NAME.0.npy, NAME.1.npy, ... of all lives. Throws UnusableRun.
std::vector<NpyMatrix> lives_of(const std::string& folder,
                                const std::string& name,
                                std::size_t columns) {
  std::vector<NpyMatrix> lives;
  for (int life = 0; life < most_lives; ++life) {
    const std::string path = fmt::format("{}/{}.{}.npy", folder, name, life);
    std::error_code error;
    if (!fs::exists(path, error)) break;
    try {
      lives.push_back(parse_npy_table(file_bytes(path, largest_rows), path));
    } catch (const std::exception& e) {
      throw UnusableRun(printable(e.what(), 1000));
    }
    if (lives.back().columns != columns && lives.back().rows > 0)
      throw UnusableRun(
          fmt::format("{}: has {} columns, not {}", path, lives.back().columns, columns));
  }
  return lives;
}

}  // namespace

std::vector<PeerTotals> read_peer_totals(const std::string& run_folder) {
  std::vector<PeerTotals> all;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(run_folder + "/peers", error)) {
    const std::string path = entry.path().string() + "/totals.json";
    std::error_code none;
    if (!fs::exists(path, none)) continue;
    try {
      all.push_back(totals_of(parse_json(file_bytes(path, largest_totals), path)));
    } catch (const std::exception& e) {
      throw UnusableRun(printable(fmt::format("{}: {}", path, e.what()), 1000));
    }
  }
  std::ranges::sort(all, {}, &PeerTotals::peer);
  return all;
}

std::vector<PeerTimes> read_peer_times(const std::string& run_folder) {
  std::vector<PeerTimes> all;
  for (const PeerTotals& totals : read_peer_totals(run_folder)) {
    PeerTimes times{.peer = static_cast<PeerId>(totals.peer), .spent = totals.states};
    for (const auto& [peer, wait] : totals.neighbours)
      times.waits.push_back({static_cast<PeerId>(peer), wait.late, wait.wire, wait.longest_wait});
    for (const StoredRounds& rows : read_peer_rounds(run_folder, totals.peer))
      times.rounds += rows.span;
    all.push_back(std::move(times));
  }
  return all;
}

void read_totals(const std::string& run_folder, StoredRun& run) {
  const std::vector<PeerTotals> all = read_peer_totals(run_folder);
  if (all.size() != run.peers) return;
  double seconds = 0;
  double memory = 0;
  bool both = true;
  for (const PeerTotals& peer : all) {
    both = both && peer.cpu_seconds && peer.peak_memory;
    seconds += peer.cpu_seconds.value_or(0);
    memory = std::max(memory, peer.peak_memory.value_or(0));
  }
  if (!both) return;
  run.cpu_seconds = seconds;
  run.peak_memory = memory;
}

std::vector<StoredRounds> read_peer_rounds(const std::string& run_folder, std::uint64_t peer) {
  std::vector<StoredRounds> rows;
  for (const NpyMatrix& m : lives_of(peer_folder(run_folder, peer), "rounds", 15)) {
    for (std::size_t i = 0; i < m.rows; ++i) {
      StoredRounds row{.round = m(i, 0),
                       .span = m(i, 1),
                       .begin = m(i, 2),
                       .states = {},
                       .hidden_wire = m(i, 11),
                       .bytes = m(i, 12),
                       .staleness = m(i, 13),
                       .queue = m(i, 14)};
      for (std::size_t k = 0; k < row.states.size(); ++k) row.states[k] = m(i, 3 + k);
      rows.push_back(row);
    }
  }
  return rows;
}

std::vector<StoredMoment> read_peer_moments(const std::string& run_folder, std::uint64_t peer) {
  std::vector<StoredMoment> rows;
  const std::string folder = peer_folder(run_folder, peer);
  for (const NpyMatrix& m : lives_of(folder, "moments", 5)) {
    for (std::size_t i = 0; i < m.rows; ++i) {
      const double state = m(i, 1);
      const double with = m(i, 4);
      const bool known = state >= 0 && state < static_cast<double>(activity_names.size());
      if (!known || with < -1 || with > largest_peer || m(i, 3) < m(i, 2))
        throw UnusableRun(fmt::format("{}: row {} of its moments is damaged", folder, i));
      rows.push_back(
          {.round = m(i, 0),
           .state = static_cast<std::size_t>(state),
           .begin = m(i, 2),
           .end = m(i, 3),
           .with = with < 0 ? std::nullopt : std::optional(static_cast<std::uint64_t>(with))});
    }
  }
  return rows;
}

}  // namespace gv
