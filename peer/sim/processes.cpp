#include "peer/sim/processes.h"

#include <algorithm>
#include <utility>

namespace gv {

void Processes::run_at(Time at, PeerId peer, std::uint64_t life, std::function<void()> f) {
  queue_.push(at, [this, peer, life, f = std::move(f)]() mutable {
    Process& process = all_[peer];
    if (process.dead || process.life != life) return;
    if (awake(peer) && process.waiting.empty()) return f();
    process.waiting.push_back(std::move(f));
    if (process.waiting.size() == 1) resume(peer);
  });
}

/// What came to a paused process happens when it goes on, in the order in which it came.
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
  all_[peer].paused_until = std::max(all_[peer].paused_until, until);
}

void Processes::die(PeerId peer) {
  Process& process = all_[peer];
  process.dead = true;
  ++process.life;
  process.paused_until = Time{0};
  process.waiting.clear();
}

}  // namespace gv
