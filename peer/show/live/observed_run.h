#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <sys/types.h>

#include "graph/formats/json_value.h"
#include "peer/fleet/json/json.h"
#include "peer/record/watch/hold_ups.h"

namespace gv {

/// The part of a view that does not change while a run goes on.
struct RunTitle {
  std::string name{};
  std::string folder{};
  std::string method{};                  ///< "d-psgd lian"
  std::string graph{};                   ///< "ring"
  std::vector<std::string> hosts{};      ///< by peer; empty: all on one machine
  std::optional<double> stop_seconds{};  ///< of training, after which it ends; none: no such end
};

/// A peer as it is shown.
struct PeerView {
  PeerState state;
  Round lag = 0;  ///< rounds behind the furthest
  std::optional<double> cpu_seconds{};
  std::optional<double> cpu_share{};  ///< of one core, of late
  std::optional<std::uint64_t> memory_bytes{};
  std::optional<double> out_rate{};  ///< bytes per second on the wire
};

/// A run as it is shown: to `top`, to a page, to a scraper.
struct RunView {
  RunTitle title;
  FleetState::Phase phase = FleetState::Phase::starting;
  double seconds = 0;
  Round round = 0;
  Round first = 0;  ///< in which it began: not 0 where it was resumed
  std::optional<Round> rounds{};
  double rate = 0;  ///< rounds per second, of late
  std::vector<PeerView> peers{};
  std::optional<MetricsRow> latest{};
  std::vector<double> losses{};  ///< of the mean model at the last evaluations, at most 32
  std::optional<OrderAnswer> checkpoint{};
  std::optional<OrderAnswer> record{};

  std::size_t alive() const;
  /// Returns the part of the run that is over, by rounds or by time, whichever ends it first;
  /// nothing if neither end is known.
  std::optional<double> part_over() const;
  /// Returns the seconds until that end; nothing unless it trains and the end can be told.
  std::optional<double> seconds_left() const;
};

std::string_view word_of(FleetState::Phase phase);
std::string_view word_of(PeerState::Stage stage);

/// {"schema":"grapevine.live/1","name":..,"phase":"training","round":..,"peers":[{..},..],..}
Json json_of(const RunView& view);
/// Throws std::runtime_error that says what is missing.
RunView parse_view(const JsonValue& json);

/// Hands what the launcher knows to the thread that shows it. Putting takes a lock for as long as a
/// pointer is swapped, however many look on and however slow they are.
class Feed {
 public:
  /// `past`: the evaluations of a run that is resumed.
  explicit Feed(std::vector<MetricsRow> past = {});

  void put(FleetState state);
  void put(const FleetRecord& record);

  /// The newest state; null before the first.
  std::shared_ptr<const FleetState> state() const;
  /// The evaluations so far, thinned out where there are many.
  std::shared_ptr<const std::vector<MetricsRow>> curve() const;

 private:
  mutable std::mutex mutex_;
  std::shared_ptr<const FleetState> state_;
  std::shared_ptr<const std::vector<MetricsRow>> curve_;
};

/// The time and memory that a process has used so far.
struct ProcessUsage {
  double cpu_seconds = 0;          ///< of all its threads
  double age_seconds = 0;          ///< since it was started
  std::uint64_t memory_bytes = 0;  ///< resident
};

/// Reads /proc/PID/stat (proc(5)); none: there is no such process any more.
std::optional<ProcessUsage> usage_of(pid_t pid);

/// A run as the server's thread sees it: what the feed says, what /proc says of the processes (once
/// a second at the most), and how fast things go of late. Looks only when it is asked.
class ObservedRun {
 public:
  using Clock = std::chrono::steady_clock;

  ObservedRun(RunTitle title,
              const Feed& feed,
              std::function<std::optional<ProcessUsage>(pid_t)> usage = usage_of);

  /// Returns the run as of `now`; the same object until there is something new.
  std::shared_ptr<const RunView> view(Clock::time_point now);
  std::shared_ptr<const std::vector<MetricsRow>> curve() const { return feed_.curve(); }

 private:
  struct Usage {
    pid_t pid = 0;
    std::optional<ProcessUsage> last{};
    std::optional<double> share{};  ///< of a core
  };
  void look_at_processes(const FleetState& state, Clock::time_point now);
  double rate_of(const FleetState& state);
  PeerView peer_view(const PeerState& peer, double rate) const;

  RunTitle title_;
  const Feed& feed_;
  std::function<std::optional<ProcessUsage>(pid_t)> usage_of_;
  std::shared_ptr<const FleetState> state_;
  std::shared_ptr<const RunView> view_;
  std::optional<Clock::time_point> looked_;
  std::map<PeerId, Usage> usages_;
  std::deque<std::pair<double, Round>> pace_;  ///< seconds, round; of the last seconds
};

}  // namespace gv
