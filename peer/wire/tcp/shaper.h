#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <map>

#include "optim/rng.h"
#include "peer/fleet/specs.h"

namespace gv {

/// A token bucket, kept as the time at which it is full again (the virtual scheduling form of the
/// generic cell rate algorithm, ITU-T I.371): what is asked of it late costs no time twice, however
/// coarse the clock of who asks.
class TokenBucket {
 public:
  /// `rate`: bytes per second; 0: no limit. `burst`: what a bucket that was idle lets through at
  /// once, as seconds of its rate.
  explicit TokenBucket(double rate = 0, Time burst = Time{0}) : rate_(rate), burst_(burst) {}
  /// Returns when the first byte of what comes at `now` may leave.
  Time begin(Time now) const;
  /// Takes `bytes` that may leave from `now` on; returns when the last one has left.
  Time take(std::uint64_t bytes, Time now);
  /// Takes back what has not left by `now` of `bytes` of which the last one would have left at
  /// `left`.
  void give_back(std::uint64_t bytes, Time left, Time now);

 private:
  double rate_;
  Time burst_;
  Time full_{0};
};

/// The way of all that one peer sends through the network: one bucket for the peer, one for each
/// link, then the link's latency. It has no clock of its own: in the simulator time is virtual, in
/// a real run it is the peer's.
class Shaper {
 public:
  /// `network` must outlive it. Jitter is drawn from `seed`, for each link apart.
  Shaper(const NetworkSpec& network, PeerId self, std::uint64_t seed, Time burst = Time{0});
  /// Returns when the last byte of a frame that is handed over at `now` is with `to`; never before
  /// the frame that was handed over before it for the same peer. `now` must not decrease.
  Time arrival(PeerId to, std::uint64_t bytes, Time now);
  /// Lets nothing more arrive with `to` before `time`.
  void hold(PeerId to, Time time);
  /// The connection with `to` has ended: what was handed over for it and has not left by `now`
  /// never will, and takes nobody's time.
  void forget(PeerId to, Time now);

 private:
  /// A frame that may not have left yet.
  struct Frame {
    std::uint64_t bytes;
    Time sent;    ///< when its last byte leaves the peer
    Time passed;  ///< and when it leaves what is the link's alone
    Time left() const { return std::max(sent, passed); }
  };
  struct Link {
    LinkSpec spec;
    TokenBucket bucket;
    Rng rng;
    Time last{0};  ///< arrival
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

}  // namespace gv
