#include "peer/sim/world/processes.h"

#include <algorithm>
#include <cmath>

#include "optim/check.h"

namespace gv {

EventQueue::Instant& EventQueue::instant(Time at) {
  if (last_ != instants_.end() && last_->first == at) return last_->second;
  const auto after = instants_.lower_bound(at);
  if (after != instants_.end() && after->first == at) {
    last_ = after;
  } else if (spare_.empty()) {
    last_ = instants_.try_emplace(after, at);
  } else {
    spare_.back().key() = at;
    last_ = instants_.insert(after, std::move(spare_.back()));
    spare_.pop_back();
  }
  return last_->second;
}

void EventQueue::add(Time at, Waiting waiting) {
  if (!waiting.idle) ++busy_;
  instant(std::max(at, now_)).waiting.push_back(std::move(waiting));
}

void EventQueue::end_first() {
  const auto first = instants_.begin();
  if (last_ == first) last_ = instants_.end();
  first->second.waiting.clear();
  first->second.next = 0;
  spare_.push_back(instants_.extract(first));
}

void EventQueue::run_next() {
  auto& [at, instant] = *instants_.begin();
  now_ = at;
  Waiting first = std::move(instant.waiting[instant.next++]);
  if (instant.next == instant.waiting.size()) end_first();
  count(first);
  first.event();
}

void EventQueue::take_row(std::vector<Waiting>& row) {
  auto& [at, instant] = *instants_.begin();
  GV_CHECK_EQUAL(instant.next, std::size_t{0}, "an instant is run event by event or as a row");
  now_ = at;
  row.clear();
  row.swap(instant.waiting);
  end_first();
  for (const Waiting& each : row) count(each);
}

void EventQueue::count(const Waiting& begun) {
  ++events_;
  if (begun.idle) return;
  --busy_;
  last_busy_ = now_;
}

void Processes::run_at(
    Time at, PeerId peer, std::uint64_t life, std::function<void()> f, bool idle) {
  auto event = [this, peer, life, f = std::move(f)]() mutable {
    Process& process = all_[peer];
    if (process.dead || process.life != life) return;
    if (awake(peer) && process.waiting.empty()) return f();
    process.waiting.push_back(std::move(f));
    if (process.waiting.size() == 1) resume(peer);
  };
  idle ? queue_.push_idle(at, std::move(event)) : queue_.push(at, std::move(event));
}

void Processes::set_clock(PeerId peer, double rate) {
  Process& process = all_[peer];
  process.shown_then = clock(peer);
  process.set_at = queue_.now();
  process.rate = rate;
}

void Processes::set_clock_ahead(PeerId peer, Time by) {
  Process& process = all_[peer];
  process.shown_then = clock(peer) + by;
  process.set_at = queue_.now();
}

Time Processes::shown_at(const Process& process, Time time) {
  const auto passed = static_cast<double>((time - process.set_at).count());
  return process.shown_then + Time{static_cast<std::int64_t>(passed / process.rate)};
}

Time Processes::clock(PeerId peer) const {
  return shown_at(all_[peer], queue_.now());
}

Time Processes::when(PeerId peer, Time shown) const {
  const Process& process = all_[peer];
  const auto to_go = static_cast<double>((shown - process.shown_then).count());
  Time time = process.set_at + Time{static_cast<std::int64_t>(std::ceil(to_go * process.rate))};
  while (shown_at(process, time) < shown) ++time;  // corrects rounding
  return time;
}

/// Runs the events that arrived at a paused process when it continues, in order of arrival.
void Processes::resume(PeerId peer) {
  queue_.push(all_[peer].paused_until, [this, peer, life = all_[peer].life] {
    Process& process = all_[peer];
    if (process.dead || process.life != life) return;
    if (!awake(peer)) return resume(peer);
    std::vector<std::function<void()>> waiting;
    waiting.swap(process.waiting);
    for (const auto& f : waiting) f();
  });
}

void Processes::pause(PeerId peer, Time until) {
  Process& process = all_[peer];
  process.paused += std::max(Time{0}, until - std::max(queue_.now(), process.paused_until));
  process.paused_until = std::max(process.paused_until, until);
}

Time Processes::stood_still(PeerId peer) const {
  const Process& process = all_[peer];
  return process.paused - std::max(Time{0}, process.paused_until - queue_.now());
}

void Processes::die(PeerId peer) {
  Process& process = all_[peer];
  process.dead = true;
  ++process.life;
  process.paused = stood_still(peer);
  process.paused_until = Time{0};
  process.waiting.clear();
}

}  // namespace gv
