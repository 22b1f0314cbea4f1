#pragma once

#include <cstdint>

#include "gossip/seam/message.h"

namespace gv {

/// Returns an id of the boot and time namespace whose clock this process reads, by which two
/// processes know if they read the same clock; 0 if unknown.
std::uint64_t machine_id();

/// Converts the stamps of a neighbour's messages to our clock. A neighbour on this machine reads
/// the same clock. On another machine, the quickest message of the last minutes is assumed to have
/// arrived without delay, and other delays are relative to it, since no message arrives before it
/// was sent. Two windows are kept, because clocks drift apart.
class NeighborClock {
 public:
  NeighborClock() = default;
  explicit NeighborClock(bool same_machine) : same_(same_machine) {}

  /// Returns when a message received at `now` was sent, by our clock; not after `now`.
  Time sent_at(Time stamp, Time now);

 private:
  static constexpr Time window{std::chrono::minutes(1)};

  bool same_ = false;
  Time begun_{Time::min()};         ///< start of the current window
  Time least_{Time::max()};         ///< least difference of our clock to theirs, in this window ...
  Time least_before_{Time::max()};  ///< ... and in the one before
};

}  // namespace gv
