#include "peer/sim/sim_world.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "optim/check.h"
#include "peer/sim/faults.h"
#include "peer/wire/frame.h"

namespace gv {

/// What the peer's own clock shows; it may go wrong.
Time SimWorld::now() const {
  return shared_.faults == nullptr ? shared_.queue.now() : shared_.faults->processes().clock(id_);
}

void SimWorld::send(PeerId to, Message message) {
  const std::uint64_t bytes = wire::frame_bytes(message);
  sent_bytes_ += bytes;
  if (shared_.faults != nullptr) return shared_.faults->network().send(id_, to, std::move(message));
  const Time at = shaper_.arrival(to, bytes, now());
  shared_.queue.push(at, [this, to, m = std::move(message)]() mutable {
    shared_.peers[to]->heard_round(m.from, m.round);
    const bool taken = shared_.peers[to]->deliver(std::move(m));
    GV_CHECK(taken, "a simulated peer refused a message of its own fleet");
  });
}

std::shared_ptr<BufferMemory> SimWorld::memory() const {
  return shared_.faults == nullptr ? nullptr : shared_.faults->network().memory({id_, life_});
}

void SimWorld::after(Time delay, std::function<void()> f) {
  if (shared_.faults != nullptr) {
    Processes& processes = shared_.faults->processes();
    const Time at = std::max(processes.when(id_, now() + delay), shared_.queue.now() + Time{1});
    return processes.run_at(at, id_, life_, std::move(f));
  }
  shared_.queue.push(now() + delay, std::move(f));
}

/// The work begins when all that was offered to its lane before is done, as in a process. What it
/// computes is computed at once: nothing else of this peer writes what it reads.
void SimWorld::offload(Lane lane,
                       double flops,
                       std::function<void()> job,
                       std::function<void()> done) {
  const double slowness = shared_.faults == nullptr ? 1 : shared_.faults->processes().slowness(id_);
  const double seconds = flops / flops_per_second_ * slowness;
  Time& busy_until = busy_until_.at(static_cast<std::size_t>(lane));
  busy_until = std::max(shared_.queue.now(), busy_until) +
               Time{static_cast<std::int64_t>(std::llround(seconds * 1e9))};
  shared_.jobs.push_back({busy_until, id_, life_, std::move(job), std::move(done)});
}

}  // namespace gv
