#include "peer/record/export/trace_json.h"

#include <algorithm>
#include <cstdio>
#include <limits>
#include <map>
#include <memory>
#include <stdexcept>

#include <fmt/format.h>
#include <zlib.h>

#include "peer/record/report/metrics.h"

namespace gv {
namespace {

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
