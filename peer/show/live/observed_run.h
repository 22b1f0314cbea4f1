#pragma once

#include <chrono>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "peer/show/live/feed.h"
#include "peer/show/live/process_usage.h"
#include "peer/show/live/run_view.h"

namespace gv {

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
