#include "peer/launch/collected_run.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <optional>
#include <stdexcept>

#include <fmt/format.h>
#include <poll.h>

#include "optim/printable.h"
#include "peer/record/joined_models.h"

namespace gv {
namespace {

namespace fs = std::filesystem;

/// Returns the peer whose folder this is, or nothing for a name without a number. Each peer has one
/// folder, so a second spelling of its number is refused: 0000 is not 000.
std::optional<PeerId> peer_of(const fs::path& folder) {
  const std::string name = folder.filename().string();
  PeerId peer = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), peer);
  if (error != std::errc{} || end != name.data() + name.size()) return {};
  if (name == fmt::format("{:03}", peer)) return peer;
  throw std::runtime_error(fmt::format("{}: the folder of peer {} must be called {:03}",
                                       printable(folder.string(), 200), peer, peer));
}

/// Returns the folders of peers by number; symbolic links are skipped.
std::map<PeerId, fs::path> peer_folders(const std::string& folder) {
  std::map<PeerId, fs::path> folders;
  std::error_code none;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder + "/peers", none)) {
    const std::optional<PeerId> peer = peer_of(entry.path());
    if (peer && fs::is_directory(entry.symlink_status())) folders[*peer] = entry.path();
  }
  return folders;
}

void check_alike(const CollectedPeers& peers, const StoredReports& next, const std::string& path) {
  if (peers.empty()) return;
  const ReportsOf& first = peers.begin()->second.whose;
  if (first.digest == next.whose.digest && first.peers == next.whose.peers) return;
  throw std::runtime_error(
      fmt::format("{} is of another fleet (digest {}, of {} peers) than peer {} (digest {}, of {})",
                  path, printable(next.whose.digest, 32), next.whose.peers, peers.begin()->first,
                  printable(first.digest, 32), first.peers));
}

/// Moment of an evaluation: the period of the clock, or else the round.
using Moment = std::pair<std::uint64_t, Round>;

Moment moment_of(const Report& report) {
  return {report.tick, report.tick > 0 ? 0 : report.round};
}

/// Evaluations by moment, then by peer. A peer that returned to a checkpoint repeated some; the
/// newer ones count.
using Evaluations = std::map<Moment, std::map<PeerId, const KeptReport*>>;

Evaluations evaluations_of(const CollectedPeers& peers) {
  Evaluations all;
  for (const auto& [peer, stored] : peers)
    for (const KeptReport& kept : stored.reports)
      if (!kept.report.last) all[moment_of(kept.report)][peer] = &kept;
  return all;
}

std::map<PeerId, const KeptReport*> ends_of(const CollectedPeers& peers) {
  std::map<PeerId, const KeptReport*> ends;
  for (const auto& [peer, stored] : peers)
    if (!stored.reports.empty() && stored.reports.back().report.last &&
        !stored.reports.back().model.empty())
      ends[peer] = &stored.reports.back();
  return ends;
}

Time time_of(const std::map<PeerId, const KeptReport*>& reports) {
  Time latest{0};
  for (const auto& [peer, kept] : reports)
    latest = std::max(latest, kept->report.costs.spent.total());
  return latest;
}

/// Loads a report with its model. A server or a stage holds only a part of the model.
Report load_checked(const KeptReport& kept, const Assembly& fleet) {
  Report report = load(kept, fleet.dimension * sizeof(float));
  const std::size_t floats = report.model->floats().size();
  if (can_be_of(fleet.fleet, fleet.dimension, report)) return report;
  throw std::runtime_error(fmt::format("{}: {} numbers from {} on, and the model has {}",
                                       kept.model, floats, report.holds.begin, fleet.dimension));
}

/// Waits until the evaluator has answered for the models up to now, so that they can be freed.
void settle(Observer& observer) {
  while (observer.waits()) {
    std::vector<pollfd> fds;
    observer.add_to(fds);
    constexpr int tick_ms = 100;  // an evaluator has deadlines
    ::poll(fds.data(), fds.size(), tick_ms);
    observer.work();
  }
}

}  // namespace

CollectedPeers read_peers(const std::string& folder) {
  CollectedPeers peers;
  for (const auto& [peer, path] : peer_folders(folder)) {
    if (!fs::exists(path / "reports.jsonl")) continue;
    StoredReports stored = read_reports(path.string());
    check_alike(peers, stored, path.string());
    if (stored.whose.peer != peer || peer >= stored.whose.peers)
      throw std::runtime_error(fmt::format("{} holds what peer {} of {} left", path.string(),
                                           stored.whose.peer, stored.whose.peers));
    peers.emplace(peer, std::move(stored));
  }
  return peers;
}

void gather_peers(const std::string& from, const std::string& to) {
  for (const auto& [peer, path] : peer_folders(from)) {
    const fs::path there = fs::path(to) / "peers" / path.filename();
    if (fs::exists(there))
      throw std::invalid_argument(
          fmt::format("peer {} is both in {} and in {}", peer, path.string(), there.string()));
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(path)) {
      if (!fs::is_regular_file(entry.symlink_status())) continue;
      const fs::path copy = there / entry.path().lexically_relative(path);
      std::error_code error;
      fs::create_directories(copy.parent_path(), error);
      if (!error) fs::copy_file(entry.path(), copy, error);
      if (error) throw std::runtime_error(fmt::format("{}: {}", copy.string(), error.message()));
    }
  }
}

std::vector<PeerId> replay(const CollectedPeers& peers, const Assembly& fleet, Observer& observer) {
  const auto ends = ends_of(peers);
  std::vector<PeerId> missing;
  for (PeerId i = 0; i < fleet.fleet.size(); ++i) {
    if (ends.contains(i)) continue;
    missing.push_back(i);
    observer.forget(i);
  }
  for (const auto& [moment, reports] : evaluations_of(peers)) {
    const bool complete = std::ranges::all_of(
        reports, [](const auto& entry) { return !entry.second->model.empty(); });
    for (const auto& [peer, kept] : reports)
      if (complete && ends.contains(peer))
        observer.take(load_checked(*kept, fleet), time_of(reports));
    settle(observer);
  }
  for (const auto& [peer, kept] : ends) observer.take(load_checked(*kept, fleet), time_of(ends));
  settle(observer);
  return missing;
}

}  // namespace gv
