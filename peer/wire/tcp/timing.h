#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <map>

#include "gossip/seam/message.h"
#include "optim/rng.h"
#include "peer/fleet/specs.h"

namespace gv {

/// A token bucket, stored as the time at which it is full again (the virtual scheduling form of the
/// generic cell rate algorithm, ITU-T I.371). A late request costs no time twice, however coarse
/// the caller's clock.
class TokenBucket {
 public:
  /// `rate`: bytes per second; 0: no limit. `burst`: amount that passes an idle bucket at once, in
  /// seconds of its rate.
  explicit TokenBucket(double rate = 0, Time burst = Time{0}) : rate_(rate), burst_(burst) {}
  /// Returns when the first byte of a frame handed over at `now` may leave.
  Time begin(Time now) const;
  /// Takes `bytes` that may leave from `now` on. Returns when the last byte has left.
  Time take(std::uint64_t bytes, Time now);
  /// Gives back the part of `bytes`, whose last one would leave at `left`, that has not left by
  /// `now`.
  void give_back(std::uint64_t bytes, Time left, Time now);

 private:
  double rate_;
  Time burst_;
  Time full_{0};
};

/// Emulates the network for all frames of one peer: one bucket for the peer, one for each link,
/// then the link's latency. Has no clock: in the simulator time is virtual, in a real run it is the
/// peer's.
class Shaper {
 public:
  /// `network` must outlive the shaper. Jitter is drawn from `seed`, separately for each link.
  Shaper(const NetworkSpec& network, PeerId self, std::uint64_t seed, Time burst = Time{0});
  /// Returns when the last byte of a frame handed over at `now` arrives at `to`, never before an
  /// earlier frame for the same peer. `now` must not decrease.
  Time arrival(PeerId to, std::uint64_t bytes, Time now);
  /// Returns when a sign of life handed over at `now` arrives at `to`. It waits for frames to the
  /// same peer, but not for those to others, as with fair queues (RFC 8290).
  Time beat_arrival(PeerId to, Time now);
  /// Delays further arrivals at `to` until `time`.
  void hold(PeerId to, Time time);
  /// Called when the connection with `to` has ended: frames for it that have not left by `now` are
  /// dropped and use no bandwidth.
  void forget(PeerId to, Time now);

 private:
  /// A frame that may not have left yet.
  struct Frame {
    std::uint64_t bytes;
    Time sent;    ///< time at which its last byte leaves the peer
    Time passed;  ///< time at which its last byte leaves the link
    Time left() const { return std::max(sent, passed); }
  };
  struct Link {
    LinkSpec spec;
    TokenBucket bucket;
    Rng rng;
    Time last{0};  ///< latest arrival
    std::deque<Frame> frames;
  };
  Link& link(PeerId to);

  const NetworkSpec& network_;
  PeerId self_;
  std::uint64_t seed_;
  Time burst_;
  TokenBucket nic_;
  std::map<PeerId, Link> links_;
};

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
