#include <algorithm>
#include <chrono>
#include <utility>

#include "gossip/link/link.h"

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

Round ClockBound::believe(PeerId from, Round claim, Round own, Time now, Round done) {
  claim = std::min(claim, rounds_);
  if (claim == 0) return 0;  // the neighbour has not begun
  Claim& known = claims_[from];
  known.clock = std::max(known.clock, claim);
  const Time before = std::exchange(known.heard_at, now);
  watch_pace(own, now);
  if (claim <= own + slack_) {
    const bool returned = now - before > settled && known.level_since != before;
    if (!known.level_since || returned) known.level_since = now;
    if (!known.was_level || now - *known.level_since >= settled) {
      known.was_level = true;
      known.level = own;
      known.level_at = now;
      known.pace = rounds_seen_ / std::max(seconds_seen_, in_seconds(settled));
    }
    return claim;
  }
  known.level_since.reset();
  const Round believed = std::min(
      claim, std::max({own + slack_, done, others_claim(from), allowed_alone(from, known, now)}));
  jumped_ = jumped_ || believed > own + slack_;
  return believed;
}

Round ClockBound::others_claim(PeerId from) const {
  Round furthest = 0;
  for (const auto& [peer, claim] : claims_)
    if (peer != from) furthest = std::max(furthest, claim.clock);
  return furthest;
}

/// Returns the clock to believe if no other neighbour could know better now; 0 if one could.
Round ClockBound::allowed_alone(PeerId from, const Claim& claim, Time now) const {
  std::set<PeerId> absent = gone_;
  absent.insert(from);
  const bool only = absent.size() >= neighbors_;
  absent.insert(away_.begin(), away_.end());
  if (absent.size() < neighbors_) return 0;
  if (!claim.was_level) return only || successor_ ? rounds_ : 0;
  const double rounds = (only ? 2 * fastest_ : claim.pace) * in_seconds(now - claim.level_at);
  return rounds >= static_cast<double>(rounds_) ? rounds_
                                                : claim.level + slack_ + static_cast<Round>(rounds);
}

/// A window in which the clock may have jumped does not show the pace.
void ClockBound::watch_pace(Round own, Time now) {
  constexpr Time window = std::chrono::milliseconds(100);
  if (now - watched_at_ < window) return;
  if (!std::exchange(jumped_, false) && watched_at_ > Time{0}) {
    const auto rounds = static_cast<double>(own - watched_);
    const double seconds = in_seconds(now - watched_at_);
    fastest_ = std::max(fastest_, rounds / seconds);
    rounds_seen_ += rounds;
    seconds_seen_ += seconds;
  }
  watched_at_ = now;
  watched_ = own;
}

}  // namespace gv
