#pragma once

#include <algorithm>
#include <cstdint>

#include "gossip/world.h"

namespace gv {

/// The time in which nothing was heard over one connection. A whole frame breaks the silence; so do
/// the bytes of a frame that is still on its way, at a least rate, so that a large frame on a slow
/// link arrives and a byte now and then does not keep a connection.
/// Invariant: a neighbour that sends neither a frame nor `least_rate` bytes per second is silent
/// after `dead_after`.
class Silence {
 public:
  enum class State : std::uint8_t { heard, suspected, silent };
  static constexpr std::int64_t least_rate = 8192;  ///< bytes per second

  explicit Silence(Time dead_after) : dead_after_(dead_after) {}

  void hear_frame(Time now) { heard_ = now; }
  void hear_bytes(std::uint64_t bytes, Time now) {
    constexpr std::uint64_t most = 1 << 30;  // no overflow: half a day of grace is enough
    const auto grace =
        static_cast<std::int64_t>(std::min(bytes, most)) * 1'000'000'000 / least_rate;
    heard_ = std::min(now, heard_ + Time{grace});
  }
  /// We were ourselves held up for so long, and may have heard late.
  void grant(Time lag) { heard_ += lag; }

  Time length(Time now) const { return now - heard_; }
  State state(Time now) const {
    if (length(now) >= dead_after_) return State::silent;
    return length(now) >= dead_after_ * 2 / 5 ? State::suspected : State::heard;
  }

 private:
  Time dead_after_;
  Time heard_{0};
};

}  // namespace gv
