#pragma once

#include <chrono>

#include "peer/sim/swarm.h"

namespace gv {

/// Times of accidents and of links that notice them, ten times shorter than the defaults, for
/// fleets with rounds of a few virtual milliseconds.
inline HealingTimes brisk_times() {
  using std::chrono::milliseconds;
  HealingTimes times;
  times.at = milliseconds(300);
  times.length = milliseconds(800);
  times.settle = milliseconds(1200);
  times.afterwards = milliseconds(1200);
  times.links.heartbeat = milliseconds(50);
  times.links.dead_after = milliseconds(500);
  times.links.reconnect_within = milliseconds(200);
  times.links.first_redial = milliseconds(10);
  times.links.slowest_redial = milliseconds(500);
  times.links.handshake = milliseconds(300);
  times.links.join_within = milliseconds(100);
  return times;
}

}  // namespace gv
