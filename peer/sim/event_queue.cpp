#include "peer/sim/event_queue.h"

#include <algorithm>
#include <utility>

namespace gv {

void EventQueue::push(Time at, std::function<void()> f, bool idle) {
  if (!idle) ++busy_;
  heap_.push_back({std::max(at, now_), pushed_++, idle, std::move(f)});
  std::ranges::push_heap(heap_, later);
}

void EventQueue::run_next() {
  std::ranges::pop_heap(heap_, later);
  const Event event = std::move(heap_.back());
  heap_.pop_back();
  now_ = event.at;
  ++events_;
  if (!event.idle) {
    --busy_;
    last_busy_ = now_;
  }
  event.f();
}

}  // namespace gv
