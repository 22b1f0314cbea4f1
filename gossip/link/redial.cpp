#include "gossip/link/redial.h"

#include <algorithm>
#include <utility>

namespace gv {

void Redial::wanted(Time now, Rng& jitter) {
  if (state_ != State::resting) return;
  if (std::exchange(fresh_, false) && now - linked_at_ < slowest_) return pause(now, jitter);
  pause_ = first_;
  state_ = State::pausing;
  due_ = now;
}

void Redial::failed(Time now, Rng& jitter) {
  if (state_ == State::dialling) pause(now, jitter);
}

void Redial::linked(Time now) {
  state_ = State::resting;
  linked_at_ = now;
  fresh_ = true;
}

void Redial::pause(Time now, Rng& jitter) {
  state_ = State::pausing;
  due_ =
      now + pause_ / 2 +
      Time{static_cast<std::int64_t>(jitter.below(static_cast<std::uint64_t>(pause_.count()) + 1))};
  pause_ = std::min(pause_ * 3 / 2, slowest_);
}

}  // namespace gv
