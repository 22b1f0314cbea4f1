#include "peer/wire/tcp/timing.h"

#include <cmath>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <system_error>

#include <xxhash.h>

namespace gv {
namespace {

Time time_of(double seconds) {
  return Time{static_cast<std::int64_t>(std::llround(seconds * 1e9))};
}

}  // namespace

Time TokenBucket::begin(Time now) const {
  return std::max(now, full_);
}

Time TokenBucket::take(std::uint64_t bytes, Time now) {
  if (rate_ <= 0) return now;
  full_ = std::max(full_, now - burst_) + time_of(static_cast<double>(bytes) / rate_);
  return std::max(now, full_);
}

void TokenBucket::give_back(std::uint64_t bytes, Time left, Time now) {
  if (rate_ <= 0) return;
  const Time whole = time_of(static_cast<double>(bytes) / rate_);
  full_ -= std::clamp(left - now, Time{0}, whole);
}

Shaper::Shaper(const NetworkSpec& network, PeerId self, std::uint64_t seed, Time burst)
    : network_(network),
      self_(self),
      seed_(seed),
      burst_(burst),
      nic_(network.nic_bandwidth(self), burst) {}

Shaper::Link& Shaper::link(PeerId to) {
  const auto [at, made] = links_.try_emplace(to);
  if (made) {
    at->second.spec = network_.link(self_, to);
    at->second.bucket = TokenBucket(at->second.spec.bandwidth, burst_);
    at->second.rng = Rng(seed_).derive("network").derive(self_).derive(to);
  }
  return at->second;
}

Time Shaper::arrival(PeerId to, std::uint64_t bytes, Time now) {
  Link& link = this->link(to);
  // Bytes flow through both buckets at once: the slower one decides.
  const Time begin = link.spec.inside ? now : nic_.begin(now);
  const Time sent = link.spec.inside ? now : nic_.take(bytes, now);
  const Time passed = link.bucket.take(bytes, begin);
  const Time left = std::max(sent, passed);
  while (!link.frames.empty() && link.frames.front().left() <= now) link.frames.pop_front();
  if (left > now) link.frames.push_back({bytes, sent, passed});
  Time latency = link.spec.latency;
  if (link.spec.jitter > Time{0}) {
    const auto width = static_cast<std::uint64_t>(2 * link.spec.jitter.count() + 1);
    latency += Time{static_cast<std::int64_t>(link.rng.below(width))} - link.spec.jitter;
  }
  link.last = std::max(link.last, left + latency);
  return link.last;
}

Time Shaper::beat_arrival(PeerId to, Time now) {
  Link& link = this->link(to);
  return link.last = std::max(link.last, now + link.spec.latency);
}

void Shaper::forget(PeerId to, Time now) {
  Link& link = this->link(to);
  for (const Frame& frame : link.frames) {
    if (!link.spec.inside) nic_.give_back(frame.bytes, frame.sent, now);
    link.bucket.give_back(frame.bytes, frame.passed, now);
  }
  link.frames.clear();
  link.last = now;
}

void Shaper::hold(PeerId to, Time time) {
  Link& held = link(to);
  held.last = std::max(held.last, time);
}

std::uint64_t machine_id() {
  std::string boot;
  std::getline(std::ifstream("/proc/sys/kernel/random/boot_id"), boot);
  if (boot.empty()) return 0;
  std::error_code none;  // ignored: kernels without time namespaces have one clock
  boot += std::filesystem::read_symlink("/proc/self/ns/time", none).string();
  return XXH3_64bits(boot.data(), boot.size());
}

Time NeighborClock::sent_at(Time stamp, Time now) {
  if (same_) return std::min(stamp, now);
  // A neighbour may send any number: clamps it to avoid an overflow.
  constexpr Time most{std::chrono::hours(24 * 365 * 100)};
  const Time apart = now - std::clamp(stamp, -most, most);
  if (begun_ == Time::min() || now - begun_ >= window) {
    least_before_ = least_;
    least_ = apart;
    begun_ = now;
  }
  least_ = std::min(least_, apart);
  return now - (apart - std::min(least_, least_before_));
}

}  // namespace gv
