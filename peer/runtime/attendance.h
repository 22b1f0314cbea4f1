#pragma once

#include <atomic>
#include <set>

#include "gossip/link/carrier.h"
#include "gossip/message.h"

namespace gv {

/// Whether all neighbours take part: what a checkpoint says of the rounds before it. The loop
/// tells, and a job asks.
class Attendance {
 public:
  /// Of a neighbour that has not said goodbye.
  void heard(LinkEvent event, PeerId neighbor);
  /// Whether a neighbour was missing since the last call, or is now.
  bool take_missed();

 private:
  std::set<PeerId> missing_;
  std::atomic<bool> somebody_missing_ = false;
  std::atomic<bool> somebody_missed_ = false;
};

}  // namespace gv
