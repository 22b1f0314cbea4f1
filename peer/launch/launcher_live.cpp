#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "optim/printable.h"
#include "peer/launch/launcher.h"
#include "peer/record/run_folder.h"

// What others see of a run while it continues, and what they ask of it.

namespace gv {
namespace {

using Clock = std::chrono::steady_clock;
constexpr auto between_states = std::chrono::milliseconds(100);

/// Rounds in which an order surely reaches every peer: what was heard of them is a quarter of a
/// second old, and so may the launcher's ear be.
Round rounds_on_the_way(Round fastest, double seconds) {
  constexpr double reach_seconds = 1;
  const double rate = seconds > 0 ? static_cast<double>(fastest) / seconds : 0;
  return 2 + static_cast<Round>(std::ceil(rate * reach_seconds));
}

}  // namespace

PeerState Launcher::state_of(PeerId id) const {
  using Stage = PeerState::Stage;
  const Slot& slot = slots_[id];
  PeerState state{.id = id, .pid = slot.process->pid(), .round = slot.round, .heard = slot.heard};
  if (slot.finished) {
    state.stage = Stage::finished;
  } else if (slot.restart_at) {
    state.stage = Stage::restarting;
  } else if (!slot.process->running()) {
    state.stage = Stage::lost;
    state.ending = slot.process->ending();
  } else if (slot.stopped_until) {
    state.stage = Stage::stopped;
  } else if (slot.ready) {
    state.stage = Stage::training;
  }
  state.restarts = slot.restarts.all();
  state.sent_bytes = slot.sent_bytes;
  state.reported = slot.reported;
  if (slot.spent.total() > Time{0})
    std::ranges::transform(slot.spent.at, state.activities.emplace().begin(), in_seconds);
  state.waits = slot.waits;
  state.staleness = slot.staleness;
  state.queue = slot.queue;
  return state;
}

void Launcher::show_state(bool ended) {
  if (!screen_.on_state || (!ended && Clock::now() < state_due_)) return;
  state_due_ = Clock::now() + between_states;
  FleetState state{.first = past_.round,
                   .seconds_before = past_.seconds,
                   .latest = observer_.latest(),
                   .checkpoint = checkpoint_,
                   .record = record_};
  if (ended) {
    state.phase = FleetState::Phase::ended;
    if (observer_.summary()) state.latest = observer_.summary();
  } else if (stopping_) {
    state.phase = FleetState::Phase::stopping;
  } else if (phase_ == Phase::training) {
    state.phase = FleetState::Phase::training;
  }
  state.seconds = began_ && ended_ ? seconds_at_end() : seconds();
  if (fleet_.rounds != std::numeric_limits<Round>::max()) state.rounds = fleet_.rounds;
  for (PeerId i = 0; i < slots_.size(); ++i) state.peers.push_back(state_of(i));
  state.round = slowest_round();
  screen_.on_state(std::move(state));
}

Round Launcher::slowest_round() const {
  Round slowest = fleet_.rounds;
  bool any = false;
  Round furthest = 0;
  for (const Slot& slot : slots_) {
    furthest = std::max(furthest, slot.round);
    if (!slot.process->running() || slot.finished) continue;
    slowest = std::min(slowest, slot.round);
    any = true;
  }
  return any ? slowest : furthest;
}

void Launcher::take_orders() {
  if (options_.orders == nullptr) return;
  for (const Order& order : options_.orders->take()) {
    if (order.kind == Order::Kind::checkpoint) {
      order_checkpoint(order.number);
    } else if (order.kind == Order::Kind::record) {
      order_record(order);
    } else if (!std::exchange(stop_ordered_, true) && !stopping_) {
      screen_.on_note("stopping: grapevine stop asked for it");
      stop_in_order();
    }
  }
}

Round Launcher::fastest_round() const {
  Round fastest = 0;
  for (const Slot& slot : slots_) fastest = std::max(fastest, slot.round);
  return fastest;
}

/// Says why nothing can be ordered of rounds to come; empty: something can.
std::string Launcher::why_not_now() const {
  if (phase_ != Phase::training) return "training has not begun yet";
  return stopping_ ? "the run is stopping" : "";
}

void Launcher::tell_all(const std::string& line) {
  for (const Slot& slot : slots_)
    if (slot.process->running() && !slot.finished) slot.process->tell(line);
}

/// Every peer keeps one at the end of the same round, or `run --resume` could not use them.
void Launcher::order_checkpoint(std::uint64_t number) {
  const Round fastest = fastest_round();
  const Round round = std::min(fleet_.rounds, fastest + rounds_on_the_way(fastest, seconds()));
  checkpoint_ = OrderAnswer{.order = number, .refused = why_not_now()};
  if (checkpoint_->refused.empty() && round <= fastest + 1)
    checkpoint_->refused = fmt::format("the run ends with round {}", fleet_.rounds);
  if (!checkpoint_->refused.empty()) return;
  checkpoint_->round = checkpoint_->last = round;
  screen_.on_note(fmt::format("grapevine checkpoint: every peer keeps one of round {}", round));
  tell_all(control::line(control::KeepCheckpoint{round}));
}

/// Waits until all have one: if it is the same round everywhere, the fleet can resume from it
/// whoever is lost later, and it stays. The next is agreed upon in time, whatever their rounds are.
void Launcher::take_candidate(PeerId id, Round round) {
  slots_[id].kept = round;
  const auto has_none = [](const Slot& slot) { return !slot.kept; };
  if (std::ranges::any_of(slots_, has_none)) return;
  const auto [first, last] = std::ranges::minmax_element(slots_, {}, &Slot::kept);
  if (first->kept == last->kept) write_held_round(folder_, hold_.round = *last->kept);
  const Round fastest = fastest_round();
  hold_.next = std::max(fastest + rounds_on_the_way(fastest, seconds()), *last->kept + 1);
  for (Slot& slot : slots_) slot.kept.reset();
  tell_all(control::line(hold_));
}

/// Its other peers there find the same.
void Launcher::tell_no_space(PeerId id, const std::string& what) {
  constexpr std::size_t most_shown = 400;
  const std::string& host = fleet_.fleet.peers.at(id).host;
  if (!full_.insert(host).second) return;
  screen_.on_note(
      fmt::format("warning: no space on the disk of {}: training continues, and what it "
                  "cannot write is left out; peer {}: {}",
                  host,
                  id,
                  printable(what, most_shown)));
}

/// Orders the same rounds of every peer, so that one timeline shows who waited for whom.
void Launcher::order_record(const Order& order) {
  const Round fastest = fastest_round();
  const Round first = fastest + rounds_on_the_way(fastest, seconds());
  record_ = OrderAnswer{.order = order.number, .refused = why_not_now()};
  if (!fleet_.fleet.record.on || !fleet_.fleet.record.moments)
    record_->refused = "the fleet file says `record: false`, or `moments: false` there";
  else if (record_->refused.empty() && first >= fleet_.rounds)
    record_->refused = fmt::format("the run ends with round {}", fleet_.rounds);
  if (!record_->refused.empty()) return;
  record_->round = first;
  record_->last = first + std::min(order.rounds, fleet_.rounds - first) - 1;
  screen_.on_note(
      fmt::format("grapevine trace: every peer records rounds {} to {}", first, record_->last));
  tell_all(control::line(control::RecordRounds{first, record_->last}));
}

}  // namespace gv
