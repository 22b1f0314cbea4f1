#include "peer/sim/world/sim_world.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "gossip/link/link_settings.h"
#include "optim/check.h"
#include "peer/sim/world/faults.h"

namespace gv {
namespace {

/// Many more blocks than threads: idle threads take further blocks, and even few events rarely
/// share a block.
std::size_t block_count(std::size_t peers, int threads) {
  return threads == 1 ? 1 : std::min(peers, static_cast<std::size_t>(64 * threads));
}

}  // namespace

Rows::Rows(EventQueue& queue, const std::vector<Peer*>& peers, Workers& workers, int threads)
    : queue_(queue),
      peers_(peers),
      workers_(workers),
      blocks_(block_count(peers.size(), threads)) {}

void Rows::run_next() {
  queue_.take_row(row_);
  active_.clear();
  for (std::size_t place = 0; place < row_.size(); ++place) {
    Block& block = block_of(row_[place].peer);
    if (block.places.empty()) active_.push_back(&block);
    block.places.push_back(place);
  }
  if (active_.size() == 1) return run(*active_.front());
  together_ = true;
  workers_.run(active_.size(), [this](std::size_t k) { run(*active_[k]); });
  together_ = false;
  for (const Waiting& each : row_) do_next(block_of(each.peer));
}

/// Performs the deferred effects of the block's next event.
void Rows::do_next(Block& block) {
  const std::size_t place = block.places[block.done++];
  while (block.performed < block.effects.size() && block.effects[block.performed].place == place)
    do_now(std::move(block.effects[block.performed++]));
  if (block.done < block.places.size()) return;
  block.places.clear();
  block.effects.clear();
  block.done = block.performed = 0;
}

void Rows::end_work() {
  for (Effect& end : ends_) queue_.push(end.at, end.to, std::move(end.event));
  ends_.clear();
}

void Rows::run(Block& block) {
  constexpr std::size_t ahead = 2;
  for (std::size_t k = 0; k < block.places.size(); ++k) {
    if (k + ahead < block.places.size()) fetch(row_[block.places[k + ahead]]);
    block.place = block.places[k];
    row_[block.place].event();
  }
  if (!together_) block.places.clear();
}

/// Prefetches a peer, because with thousands of peers none is still in the cache at its next turn.
/// Two events ahead, 10,000 peers took 4.2 s instead of 5.6 on two cores.
void Rows::fetch(const Waiting& event) const {
  constexpr std::size_t line = 64;
  const auto* const peer = reinterpret_cast<const char*>(peers_[event.peer]);
  for (std::size_t at = 0; at < sizeof(Peer); at += line) __builtin_prefetch(peer + at);
}

void Rows::push(PeerId peer, Time at, PeerId to, Event event) {
  perform(peer, {Effect::Kind::push, to, at, std::move(event)});
}

void Rows::worked(PeerId peer, Time end, Event event) {
  perform(peer, {Effect::Kind::work, peer, end, std::move(event)});
}

void Rows::outside(PeerId peer, Event event) {
  perform(peer, {Effect::Kind::outside, peer, Time{0}, std::move(event)});
}

void Rows::perform(PeerId peer, Effect effect) {
  if (!together_) return do_now(std::move(effect));
  Block& block = block_of(peer);
  effect.place = block.place;
  block.effects.push_back(std::move(effect));
}

void Rows::do_now(Effect effect) {
  switch (effect.kind) {
    case Effect::Kind::push:
      return queue_.push(effect.at, effect.to, std::move(effect.event));
    case Effect::Kind::work:
      return ends_.push_back(std::move(effect));
    case Effect::Kind::outside:
      return effect.event();
  }
}

/// Returns the time of the peer's own clock, which may be wrong.
Time SimWorld::now() const {
  return shared_.faults == nullptr ? shared_.queue.now() : shared_.faults->processes().clock(id_);
}

void SimWorld::send(PeerId to, Message message) {
  const std::uint64_t bytes = wire::frame_bytes(message);
  sent_bytes_ += bytes;
  if (shared_.faults != nullptr) return shared_.faults->network().send(id_, to, std::move(message));
  const Time at = shaper_.arrival(to, bytes, now());
  shared_.rows->push(id_, at, to, [this, to, m = std::move(message)]() mutable {
    shared_.peers[to]->heard_round(m.from, m.round);
    arrive(to, std::move(m));
  });
}

/// A queue is full if a neighbour's deadline is shorter than this peer's step. Links would close
/// and repeat the refused message in order, so it waits here, with all later ones.
void SimWorld::arrive(PeerId to, Message message) {
  std::map<PeerId, SimBacklog>& backlogs = shared_.backlogs[to];
  const auto backlog = backlogs.find(id_);
  if (backlog != backlogs.end()) return backlog->second.messages.push_back(std::move(message));
  if (shared_.peers[to]->deliver(message)) return;
  backlogs[id_] = {.messages = {std::move(message)}, .since = now()};
  offer_later(to);
}

void SimWorld::offer_later(PeerId to) {
  shared_.rows->push(to, now() + LinkTimes{}.first_redial, to, [this, to] { offer_again(to); });
}

void SimWorld::offer_again(PeerId to) {
  constexpr auto for_ever = std::chrono::hours(24);
  SimBacklog& backlog = shared_.backlogs[to].at(id_);
  if (shared_.finished[to]) backlog.messages.clear();
  while (!backlog.messages.empty() && shared_.peers[to]->deliver(backlog.messages.front())) {
    backlog.messages.pop_front();
    backlog.since = now();
  }
  if (backlog.messages.empty()) {
    shared_.backlogs[to].erase(id_);
    return;
  }
  GV_CHECK(now() - backlog.since < for_ever,
           "a simulated peer refuses a message of its own fleet for ever");
  offer_later(to);
}

std::shared_ptr<BufferMemory> SimWorld::memory() const {
  return shared_.faults == nullptr ? nullptr : shared_.faults->network().memory({id_, life_});
}

std::uint64_t SimWorld::repeated_bytes() const {
  return shared_.faults == nullptr ? 0 : shared_.faults->network().repeated_bytes(id_);
}

Time SimWorld::stood_still() const {
  return shared_.faults == nullptr ? Time{0} : shared_.faults->processes().stood_still(id_);
}

void SimWorld::after(Time delay, std::function<void()> f) {
  if (shared_.faults != nullptr) {
    Processes& processes = shared_.faults->processes();
    const Time at = std::max(processes.when(id_, now() + delay), shared_.queue.now() + Time{1});
    return processes.run_at(at, id_, life_, std::move(f));
  }
  shared_.rows->push(id_, now() + delay, id_, std::move(f));
}

/// Work begins after all earlier work of its lane, as in a process. Its result is computed at once,
/// while the peer's memory is in the cache; nothing else of this peer writes its inputs. With
/// faults, events run one after the other, so the work waits for the end of the instant to run on
/// all cores.
void SimWorld::offload(Lane lane,
                       double flops,
                       std::function<void()> job,
                       std::function<void()> done) {
  const double slowness = shared_.faults == nullptr ? 1 : shared_.faults->processes().slowness(id_);
  const double seconds = flops / flops_per_second_ * slowness;
  Time& busy_until = busy_until_.at(static_cast<std::size_t>(lane));
  const Time length{static_cast<std::int64_t>(std::llround(seconds * 1e9))};
  busy_until = std::max(shared_.queue.now(), busy_until) + length;
  if (shared_.faults != nullptr) {
    shared_.longest_work = std::max(shared_.longest_work, length);
    SimWork& work = shared_.work.at(id_);
    ++work.jobs;
    work.until = std::max(work.until, busy_until);
    return shared_.jobs.push_back({busy_until, id_, life_, std::move(job), std::move(done)});
  }
  job();
  if (!shared_.after_job) return end_work(lane, std::move(done));
  shared_.after_job(id_, [this, lane, done = std::move(done)] { end_work(lane, done); });
}

/// A program that waited for others within its turn ends later than its work takes.
void SimWorld::end_work(Lane lane, std::function<void()> done) {
  Time& busy_until = busy_until_.at(static_cast<std::size_t>(lane));
  busy_until = std::max(busy_until, shared_.queue.now());
  shared_.rows->worked(id_, busy_until, std::move(done));
}

}  // namespace gv
