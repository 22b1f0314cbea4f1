#pragma once

#include <cstdint>

#include "gossip/message.h"

namespace gv {

/// Names the machine whose clock a process reads, so that two of them can tell whether they read
/// the same one: of its boot and its time namespace. 0: it cannot be told.
std::uint64_t machine_id();

/// Reads the stamps of a neighbour's messages. A neighbour on this machine reads the same clock.
/// Of another one only so much is known that no message comes before it was sent: the quickest of
/// the last minutes is taken to have been on its way for no time, so that what a message takes
/// counts from there. Two windows are kept, since clocks drift apart.
class NeighborClock {
 public:
  NeighborClock() = default;
  explicit NeighborClock(bool same_machine) : same_(same_machine) {}

  /// Returns when a message that came at `now` was sent, by our clock; not after `now`.
  Time sent_at(Time stamp, Time now);

 private:
  static constexpr Time window{std::chrono::minutes(1)};

  bool same_ = false;
  Time begun_{Time::min()};         ///< of the present window
  Time least_{Time::max()};         ///< our clock minus theirs, in the present window ...
  Time least_before_{Time::max()};  ///< ... and in the one before
};

}  // namespace gv
