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
    if (!known.was_level || now - *known.level_since >= settled)
      known = {known.clock, true, own, now, known.level_since, now};
    return claim;
  }
  known.level_since.reset();
  const Round proved = std::max({own + slack_, done, others_claim(from)});
  const Round believed = std::min(
      claim, is_only(from, known) ? std::max(proved, allowed_by_time(known, now)) : proved);
  jumped_ = jumped_ || believed > own + slack_;
  return believed;
}

bool ClockBound::is_only(PeerId from, const Claim& claim) const {
  std::set<PeerId> absent = gone_;
  if (!claim.was_level) absent.insert(away_.begin(), away_.end());
  absent.insert(from);
  return absent.size() >= neighbors_;
}

Round ClockBound::others_claim(PeerId from) const {
  Round furthest = 0;
  for (const auto& [peer, claim] : claims_)
    if (peer != from) furthest = std::max(furthest, claim.clock);
  return furthest;
}

Round ClockBound::allowed_by_time(const Claim& claim, Time now) const {
  if (!claim.was_level) return rounds_;
  const double rounds = 2 * fastest_ * in_seconds(now - claim.level_at);
  return rounds >= static_cast<double>(rounds_) ? rounds_
                                                : claim.level + slack_ + static_cast<Round>(rounds);
}

/// A window in which the clock may have jumped does not show the pace.
void ClockBound::watch_pace(Round own, Time now) {
  constexpr Time window = std::chrono::milliseconds(100);
  if (now - watched_at_ < window) return;
  if (!std::exchange(jumped_, false) && watched_at_ > Time{0})
    fastest_ =
        std::max(fastest_, static_cast<double>(own - watched_) / in_seconds(now - watched_at_));
  watched_at_ = now;
  watched_ = own;
}

}  // namespace gv
