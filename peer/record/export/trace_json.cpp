#include "peer/record/export/trace_json.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <limits>
#include <map>
#include <memory>
#include <stdexcept>

#include <fmt/format.h>
#include <zlib.h>

#include "graph/formats/npy_matrix.h"
#include "graph/spec/parameters.h"
#include "optim/machine/cache_home.h"
#include "peer/record/report/metrics.h"

namespace gv {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t moment_columns = 5;
constexpr std::size_t trace_columns = 15;
constexpr PeerId most_peers = 100'000;
constexpr double most_rounds = 1e15;

NpyMatrix read_matrix(const std::string& path, std::size_t columns) {
  NpyMatrix matrix = parse_npy_table(text_of_file(path), path);
  if (matrix.columns != columns)
    throw std::runtime_error(
        fmt::format("{}: {} columns instead of {}", path, matrix.columns, columns));
  return matrix;
}

[[noreturn]] void refuse(const std::string& path, std::size_t row, const char* what) {
  throw std::runtime_error(fmt::format("{}: row {}: {}", path, row, what));
}

bool is_count(double value, double most) {
  return value >= 0 && value <= most && value == std::floor(value);
}

void add_moments(const std::string& path, const RoundRange& range, PeerMoments& peer) {
  const NpyMatrix m = read_matrix(path, moment_columns);
  for (std::size_t k = 0; k < m.rows; ++k) {
    if (!is_count(m(k, 0), most_rounds)) refuse(path, k, "the first column is no round");
    if (!is_count(m(k, 1), activities - 1)) refuse(path, k, "the second column is no state");
    if (m(k, 3) < m(k, 2)) refuse(path, k, "it ends before it begins");
    if (m(k, 4) != -1 && !is_count(m(k, 4), most_peers)) refuse(path, k, "the last is no peer");
    const auto round = static_cast<Round>(m(k, 0));
    if (round < range.first || round > range.last) continue;
    Moment moment{.round = round,
                  .activity = static_cast<std::size_t>(m(k, 1)),
                  .begin = m(k, 2),
                  .end = m(k, 3)};
    if (m(k, 4) >= 0) moment.with = static_cast<PeerId>(m(k, 4));
    peer.moments.push_back(moment);
  }
}

void add_rounds(const std::string& path, const RoundRange& range, PeerMoments& peer) {
  const NpyMatrix m = read_matrix(path, trace_columns);
  for (std::size_t k = 0; k < m.rows; ++k) {
    if (!is_count(m(k, 0), most_rounds)) refuse(path, k, "the first column is no round");
    if (!(m(k, 1) > 0)) refuse(path, k, "the second column is no number of rounds");
    const auto round = static_cast<Round>(m(k, 0));
    if (round < range.first || round > range.last) continue;
    peer.rounds.push_back({.round = round,
                           .span = m(k, 1),
                           .begin = m(k, 2),
                           .bytes = m(k, 12),
                           .staleness = m(k, 13),
                           .queue = m(k, 14)});
  }
}

std::vector<PeerId> peers_in(const std::string& folder) {
  std::vector<PeerId> peers;
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(folder + "/peers", none)) {
    if (const auto id = as_number<PeerId>(entry.path().filename().string())) peers.push_back(*id);
  }
  std::ranges::sort(peers);
  return peers;
}

constexpr std::uint64_t slice_bytes = 110;
constexpr std::uint64_t arrow_bytes = 170;    ///< both ends
constexpr std::uint64_t counter_bytes = 260;  ///< all three

double first_moment(const std::vector<PeerMoments>& peers) {
  double first = std::numeric_limits<double>::infinity();
  for (const PeerMoments& peer : peers)
    for (const Moment& moment : peer.moments) first = std::min(first, moment.begin);
  return first == std::numeric_limits<double>::infinity() ? 0 : first;
}

/// Writes events, separated by commas.
class Events {
 public:
  Events(const std::function<void(std::string_view)>& write, double origin)
      : write_(write), origin_(origin) {}

  double us(double seconds) const { return (seconds - origin_) * 1e6; }
  void add(const std::string& event) {
    write_(first_ ? "\n" : ",\n");
    write_(event);
    first_ = false;
  }

 private:
  const std::function<void(std::string_view)>& write_;
  double origin_;
  bool first_ = true;
};

void add_name(Events& events, PeerId peer) {
  events.add(fmt::format(
      R"({{"ph":"M","pid":{0},"tid":0,"name":"process_name","args":{{"name":"peer {0}"}}}})",
      peer));
  events.add(fmt::format(
      R"({{"ph":"M","pid":{0},"tid":0,"name":"process_sort_index","args":{{"sort_index":{0}}}}})",
      peer));
}

void add_slice(Events& events, PeerId peer, const Moment& m) {
  events.add(fmt::format(R"({{"ph":"X","pid":{},"tid":0,"name":"{}","ts":{:.3f},"dur":{:.3f},)"
                         R"("args":{{"round":{}{}}}}})",
                         peer, activity_names[m.activity], events.us(m.begin),
                         (m.end - m.begin) * 1e6, m.round,
                         m.with ? fmt::format(R"(,"with":{})", *m.with) : ""));
}

/// Adds an arrow from the time of sending. A late message arrives as soon as it is sent; a message
/// on its way was sent when the wait for the wire began.
void add_arrow(Events& events, PeerId peer, const Moment& m, std::uint64_t id) {
  const bool late = activity_names[m.activity] == "late";
  events.add(
      fmt::format(R"({{"ph":"s","pid":{},"tid":0,"name":"wait","cat":"wait","id":{},"ts":{:.3f}}})",
                  *m.with, id, events.us(late ? m.end : m.begin)));
  events.add(fmt::format(
      R"({{"ph":"f","bp":"e","pid":{},"tid":0,"name":"wait","cat":"wait","id":{},"ts":{:.3f}}})",
      peer, id, events.us(m.end)));
}

void add_counters(Events& events, PeerId peer, const RoundSums& r) {
  const std::pair<const char*, double> counters[] = {
      {"bytes a round", r.bytes / r.span}, {"staleness", r.staleness}, {"queue", r.queue}};
  for (const auto& [name, value] : counters)
    events.add(fmt::format(
        R"({{"ph":"C","pid":{},"tid":0,"name":"{}","ts":{:.3f},"args":{{"value":{}}}}})", peer,
        name, events.us(r.begin), value));
}

/// Owns a gzFile.
class TraceFile {
 public:
  explicit TraceFile(const std::string& path, bool compressed)
      : file_(::gzopen(path.c_str(), compressed ? "wb6e" : "wbTe")) {
    if (file_ == nullptr) throw std::runtime_error(path + ": cannot be written");
  }
  ~TraceFile() {
    if (file_ != nullptr) ::gzclose(file_);
  }
  TraceFile(const TraceFile&) = delete;
  TraceFile& operator=(const TraceFile&) = delete;

  void write(std::string_view text) {
    const auto size = static_cast<unsigned>(text.size());
    sound_ = sound_ && ::gzwrite(file_, text.data(), size) == static_cast<int>(size);
  }
  bool close() {
    const bool closed = ::gzclose(file_) == Z_OK;
    file_ = nullptr;
    return sound_ && closed;
  }

 private:
  gzFile file_;
  bool sound_ = true;
};

}  // namespace

std::vector<PeerMoments> read_moments(const std::string& folder, const RoundRange& range) {
  std::vector<PeerMoments> all;
  bool any = false;
  for (const PeerId id : peers_in(folder)) {
    PeerMoments peer{.peer = id};
    for (int life = 0;; ++life) {
      const auto file = [&](const char* name) {
        return fmt::format("{}/peers/{:03}/{}.{}.npy", folder, id, name, life);
      };
      const bool moments = fs::exists(file("moments"));
      if (moments) add_moments(file("moments"), range, peer);
      if (fs::exists(file("rounds"))) {
        add_rounds(file("rounds"), range, peer);
      } else if (!moments) {
        break;
      }
      any = any || moments;
    }
    all.push_back(std::move(peer));
  }
  if (!any)
    throw std::runtime_error(
        fmt::format("{}: this run has recorded no moments (peers/*/moments.0.npy), so there is "
                    "nothing to draw; runs of this version record them unless the fleet file says "
                    "otherwise",
                    folder));
  return all;
}

void write_trace(const std::vector<PeerMoments>& peers,
                 const std::function<void(std::string_view)>& write) {
  Events events(write, first_moment(peers));
  write(R"({"displayTimeUnit":"ms","traceEvents":[)");
  std::uint64_t arrows = 0;
  for (const PeerMoments& peer : peers) {
    add_name(events, peer.peer);
    for (const Moment& moment : peer.moments) {
      add_slice(events, peer.peer, moment);
      if (moment.with) add_arrow(events, peer.peer, moment, ++arrows);
    }
    for (const RoundSums& row : peer.rounds) add_counters(events, peer.peer, row);
  }
  write("\n]}\n");
}

void check_trace_size(const std::vector<PeerMoments>& peers,
                      const RoundRange& range,
                      std::uint64_t most) {
  std::map<Round, std::uint64_t> by_round;
  for (const PeerMoments& peer : peers) {
    for (const Moment& m : peer.moments)
      by_round[m.round] += slice_bytes + (m.with ? arrow_bytes : 0);
    for (const RoundSums& r : peer.rounds) by_round[r.round] += counter_bytes;
  }
  std::uint64_t bytes = 0;
  std::optional<Round> fits;
  for (const auto& [round, more] : by_round) {
    bytes += more;
    if (bytes <= most) fits = round;
  }
  if (bytes <= most) return;
  throw std::invalid_argument(
      fmt::format("the trace of these rounds would have {} MB, and viewers take {}{}",
                  bytes / 1'000'000, most / 1'000'000,
                  fits ? fmt::format("\nhelp:  --rounds {}..{} fits", range.first, *fits) : ""));
}

void write_trace_file(const std::string& path, const std::vector<PeerMoments>& peers) {
  const std::string temporary = path + ".tmp";
  TraceFile file(temporary, path.ends_with(".gz"));
  write_trace(peers, [&](std::string_view text) { file.write(text); });
  if (!file.close() || std::rename(temporary.c_str(), path.c_str()) != 0) {
    std::remove(temporary.c_str());
    throw std::runtime_error(path + ": cannot be written");
  }
}

WrittenTrace write_run_trace(const std::string& folder,
                             const std::string& output,
                             const RoundRange& range) {
  const std::vector<PeerMoments> peers = read_moments(folder, range);
  WrittenTrace written{.peers = peers.size()};
  for (const PeerMoments& peer : peers) written.moments += peer.moments.size();
  const bool all = range.first == 0 && range.last == std::numeric_limits<Round>::max();
  if (written.moments == 0)
    throw std::invalid_argument(
        fmt::format("{}: no moment{} was recorded; they are recorded only in rounds 0..7 and in 8 "
                    "rounds from 64, 96, 144, 216, ... on",
                    folder, all ? "" : fmt::format(" of rounds {}..{}", range.first, range.last)));
  check_trace_size(peers, range);
  write_trace_file(output, peers);
  return written;
}

}  // namespace gv
