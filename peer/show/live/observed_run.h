#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <sys/types.h>

#include "graph/formats/json_value.h"
#include "peer/fleet/json/json.h"
#include "peer/record/watch/hold_ups.h"

namespace gv {

/// The part of a view that stays constant during a run.
struct RunTitle {
  std::string name{};
  std::string folder{};
  std::string method{};                  ///< "d-psgd lian"
  std::string graph{};                   ///< "ring"
  std::vector<std::string> hosts{};      ///< by peer; empty if all are on one machine
  std::optional<double> stop_seconds{};  ///< limit of training time; none if unlimited
  bool own_shares = false;               ///< each peer has its own amount of work (help_for)
};

/// A peer for display.
struct PeerView {
  PeerState state;
  Round lag = 0;  ///< rounds less than the furthest peer's
  std::optional<double> cpu_seconds{};
  std::optional<double> cpu_share{};  ///< recent share of one core
  std::optional<std::uint64_t> memory_bytes{};
  std::optional<double> out_rate{};  ///< bytes sent per second
};

/// A run for display: in `top`, on a page, for a scraper.
struct RunView {
  RunTitle title;
  FleetState::Phase phase = FleetState::Phase::starting;
  double seconds = 0;
  Round round = 0;
  Round first = 0;  ///< first round of this run; above 0 if it was resumed
  std::optional<Round> rounds{};
  double rate = 0;  ///< recent rounds per second
  std::vector<PeerView> peers{};
  std::optional<MetricsRow> latest{};
  std::vector<double> losses{};  ///< mean model's, at the last 32 evaluations
  std::optional<OrderAnswer> checkpoint{};
  std::optional<OrderAnswer> record{};

  std::size_t alive() const;
  bool has_activities() const;  ///< at least one peer has them
  /// Returns the completed part of the run, by rounds or by time, whichever ends it first; nothing
  /// if neither limit is known.
  std::optional<double> part_over() const;
  /// Returns the seconds until that end; nothing unless the run trains and they can be estimated.
  std::optional<double> seconds_left() const;
};

std::string_view word_of(FleetState::Phase phase);
std::string_view word_of(PeerState::Stage stage);

/// {"schema":"grapevine.live/1","name":..,"phase":"training","round":..,"peers":[{..},..],..}
Json json_of(const RunView& view);
/// Throws std::runtime_error that names the missing field.
RunView parse_view(const JsonValue& json);

/// Passes the launcher's state to the thread that shows it. `put` holds a lock only while it swaps
/// a pointer, whatever the number and speed of the readers.
class Feed {
 public:
  /// `past` holds the earlier evaluations of a resumed run.
  explicit Feed(std::vector<MetricsRow> past = {});

  void put(FleetState state);
  void put(const FleetRecord& record);

  /// The newest state; null before the first.
  std::shared_ptr<const FleetState> state() const;
  /// All evaluations until now, thinned out if there are many.
  std::shared_ptr<const std::vector<MetricsRow>> curve() const;

 private:
  mutable std::mutex mutex_;
  std::shared_ptr<const FleetState> state_;
  std::shared_ptr<const std::vector<MetricsRow>> curve_;
};

/// Time and memory that a process has used.
struct ProcessUsage {
  double cpu_seconds = 0;          ///< sum over its threads
  double age_seconds = 0;          ///< since it was started
  std::uint64_t memory_bytes = 0;  ///< resident
};

/// Reads /proc/PID/stat (proc(5)); returns none if the process has ended.
std::optional<ProcessUsage> usage_of(pid_t pid);

/// A run as the server's thread sees it: the feed's state, the processes' usage from /proc (read at
/// most once a second), and recent rates. Does nothing between calls.
class ObservedRun {
 public:
  using Clock = std::chrono::steady_clock;

  ObservedRun(RunTitle title,
              const Feed& feed,
              std::function<std::optional<ProcessUsage>(pid_t)> usage = usage_of);

  /// Returns the run as of `now`; returns the previous object if nothing has changed.
  std::shared_ptr<const RunView> view(Clock::time_point now);
  std::shared_ptr<const std::vector<MetricsRow>> curve() const { return feed_.curve(); }

 private:
  struct Usage {
    pid_t pid = 0;
    std::optional<ProcessUsage> last{};
    std::optional<double> share{};  ///< share of one core
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
  std::deque<std::pair<double, Round>> pace_;  ///< (seconds, round) of the last few seconds
};

enum class MetricsFormat : std::uint8_t {
  prometheus,   ///< text format 0.0.4
  openmetrics,  ///< 1.0.0
};

/// Chooses OpenMetrics if a scraper's Accept header names it, otherwise Prometheus.
MetricsFormat metrics_format(std::string_view accept);
std::string_view content_type(MetricsFormat format);

/// The run as gauges and counters: grapevine_round, _loss, _accuracy_ratio, _consensus_distance,
/// _sent_bytes_total{peer}, _state_seconds_total{peer,state}, _peer_up{peer} and others; waits for
/// neighbours in fleets of up to 64 peers. Unknown values are left out.
/// https://prometheus.io/docs/instrumenting/exposition_formats/ and OpenMetrics 1.0.
std::string metrics_text(const RunView& view, MetricsFormat format);

/// A run as a table of at most `columns` (60 and more) x `lines` (6 and more). With fewer lines
/// than peers, it lists the lost and the slowest peers. No newline at the end.
std::string top_screen(const RunView& view, std::size_t columns, std::size_t lines);

/// Returns what a large part of the fleet waits for, the worst first; three at most.
std::vector<Culprit> worst_culprits(const RunView& view);

/// The values as characters of eight heights.
std::string sparkline(const std::vector<double>& values);

}  // namespace gv
