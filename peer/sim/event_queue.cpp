#include "peer/sim/event_queue.h"

#include <algorithm>
#include <utility>

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

}  // namespace gv
