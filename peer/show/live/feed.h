#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "peer/record/watch/hold_ups.h"

namespace gv {

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

}  // namespace gv
