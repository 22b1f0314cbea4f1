#pragma once

#include <atomic>
#include <set>

#include "gossip/link/carrier.h"
#include "gossip/message.h"

namespace gv {

/// Knows whether all neighbours take part, which a checkpoint says of the rounds before it. The
/// loop tells it, and a job asks.
class Attendance {
 public:
  /// Takes what a link says of a neighbour that has not said goodbye.
  void heard(LinkEvent event, PeerId neighbor);
  /// Returns whether a neighbour was missing since the last call, or is now.
  bool take_missed();

 private:
  std::set<PeerId> missing_;
  std::atomic<bool> somebody_missing_ = false;
  std::atomic<bool> somebody_missed_ = false;
};

}  // namespace gv
