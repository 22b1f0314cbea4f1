#include <algorithm>
#include <cmath>
#include <csignal>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "gossip/sums/links.h"
#include "optim/printable.h"
#include "peer/launch/launcher/launcher.h"
#include "peer/record/run_folder.h"

// State of a run under way, and orders to it.

namespace gv {
namespace {

using Clock = std::chrono::steady_clock;
constexpr auto between_states = std::chrono::milliseconds(100);

/// Returns the number of rounds within which an order surely reaches every peer. A reported round
/// may be a quarter of a second old, and the launcher may read it another quarter later.
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
  } else if (slot.restart_at || (slot.returns && slot.process->running())) {
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
    if (!slot.works() || slot.finished) continue;
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

/// Returns why no order for future rounds is accepted now, or "" if orders are accepted.
std::string Launcher::why_not_now() const {
  if (phase_ != Phase::training) return "training has not begun yet";
  return stopping_ ? "the run is stopping" : "";
}

void Launcher::tell_all(const std::string& line) {
  for (const Slot& slot : slots_)
    if (slot.process->running() && !slot.finished) slot.process->tell(line);
}

/// Orders a checkpoint of the same round from every peer, as `run --resume` needs it.
void Launcher::order_checkpoint(std::uint64_t number) {
  const Round fastest = fastest_round();
  const Round round = std::min(fleet_.rounds, fastest + rounds_on_the_way(fastest, seconds()));
  checkpoint_ = OrderAnswer{.order = number, .refused = why_not_now()};
  if (checkpoint_->refused.empty() && round <= fastest + 1)
    checkpoint_->refused = fmt::format("the run ends with round {}", fleet_.rounds);
  if (!checkpoint_->refused.empty()) return;
  checkpoint_->round = checkpoint_->last = round;
  screen_.on_note(
      fmt::format("grapevine checkpoint: every peer keeps a checkpoint of round {}", round));
  tell_all(control::line(control::KeepCheckpoint{round}));
}

/// Waits until all peers have a checkpoint. If all are of one round, they are held: the fleet can
/// resume from them whichever peer is lost later. Then sets the next round to hold in good time.
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

/// Warns once per host, because its peers share the disk.
void Launcher::tell_no_space(PeerId id, const std::string& what) {
  constexpr std::size_t most_shown = 400;
  const std::string& host = fleet_.fleet.peers.at(id).host;
  if (!full_.insert(host).second) return;
  screen_.on_note(
      fmt::format("warning: no space on the disk of {}: training continues, and what it "
                  "cannot write is left out; peer {}: {}",
                  host, id, printable(what, most_shown)));
}

/// Orders a record of the same rounds from every peer, so that one timeline shows which peer waited
/// for which.
void Launcher::order_record(const Order& order) {
  const Round fastest = fastest_round();
  const Round first = fastest + rounds_on_the_way(fastest, seconds());
  record_ = OrderAnswer{.order = order.number, .refused = why_not_now()};
  if (!fleet_.fleet.record.on || !fleet_.fleet.record.moments)
    record_->refused = "the fleet file has `record: false`, or `moments: false` there";
  else if (record_->refused.empty() && first >= fleet_.rounds)
    record_->refused = fmt::format("the run ends with round {}", fleet_.rounds);
  if (!record_->refused.empty()) return;
  record_->round = first;
  record_->last = first + std::min(order.rounds, fleet_.rounds - first) - 1;
  screen_.on_note(
      fmt::format("grapevine trace: every peer records rounds {} to {}", first, record_->last));
  tell_all(control::line(control::RecordRounds{first, record_->last}));
}

// Peers that die, and peers that the fleet file kills or halts.

void Launcher::restart_when_due() {
  for (PeerId i = 0; i < slots_.size(); ++i) {
    Slot& slot = slots_[i];
    if (!slot.restart_at || Clock::now() < *slot.restart_at) continue;
    slot.restart_at.reset();
    slot.restarts.count();
    slot.earlier += std::exchange(slot.told, {});
    slot.returns = true;
    start(i, {"--rejoin", "--clock", fmt::format("{:.9f}", training_seconds())});
    observer_.expect(i);
  }
}

/// Counts the injections before the checkpoint as done.
void Launcher::pass_over_injections() {
  for (const Injection& injection : fleet_.fleet.faults.inject)
    if (in_seconds(injection.at) < past_.seconds) ++injected_;
}

/// Performs the injections of the fleet file that are due, and ends halts.
void Launcher::inject_when_due() {
  const std::vector<Injection>& list = fleet_.fleet.faults.inject;
  if (phase_ != Phase::training || stopping_) return;
  const auto due = [&] {
    return injected_ < list.size() &&
           seconds() >= std::chrono::duration<double>(list[injected_].at).count();
  };
  while (due()) inject(list[injected_++]);
  for (Slot& slot : slots_) {
    if (!slot.stopped_until || Clock::now() < *slot.stopped_until) continue;
    slot.stopped_until.reset();
    slot.process->kill(SIGCONT);
  }
}

void Launcher::inject(const Injection& injection) {
  Slot& slot = slots_[injection.peer];
  const double length = std::chrono::duration<double>(injection.length).count();
  const bool works = slot.process->running() && !slot.finished;
  if (works != (injection.kind != Injection::Kind::start)) return;
  switch (injection.kind) {
    case Injection::Kind::kill:
      screen_.on_note(fmt::format("faults.inject: peer {} is killed", injection.peer));
      slot.process->kill(SIGKILL);
      break;
    case Injection::Kind::start:
      if (!slot.finished && any_running()) slot.restart_at = Clock::now();
      break;
    case Injection::Kind::stop:
      screen_.on_note(
          fmt::format("faults.inject: peer {} stands still for {} s", injection.peer, length));
      slot.process->kill(SIGSTOP);
      slot.stopped_until = Clock::now() + injection.length;
      break;
    case Injection::Kind::cut:
      screen_.on_note(fmt::format("faults.inject: peers {} and {} are cut off for {} s",
                                  injection.peer, injection.other, length));
      for (const auto& [peer, other] :
           {std::pair{injection.peer, injection.other}, std::pair{injection.other, injection.peer}})
        if (slots_[peer].process->running())
          slots_[peer].process->tell(control::line(control::Cut{other, injection.length}));
      break;
  }
}

/// Notes that the peer is not restarted: its neighbours would refuse every new process.
void Launcher::say_not_restarted(PeerId id) {
  screen_.on_note(fmt::format(
      "peer {} is not started again: {} cannot replace a peer that has died{}", id,
      fleet_.algorithm->kind,
      fleet_.fleet.checkpoint.every ? " (run --resume continues from the checkpoints)" : ""));
}

/// Returns whether a neighbour of the peer trains or will train again; if the peer has none,
/// whether any peer does.
bool Launcher::has_company(PeerId id) const {
  const auto trains = [](const Slot& s) {
    return !s.finished && (s.process->running() || s.restart_at.has_value());
  };
  const std::vector<PeerId> neighbors = links_of(fleet_.plan(id));
  if (neighbors.empty()) return std::ranges::any_of(slots_, trains);
  return std::ranges::any_of(neighbors, [&](PeerId j) { return trains(slots_[j]); });
}

/// Kills restarted peers whose neighbours have all finished: no neighbour will come, and the peer's
/// own last model is of a round that they passed long ago.
void Launcher::end_who_comes_too_late() {
  if (stopping_ || phase_ != Phase::training) return;
  for (PeerId i = 0; i < slots_.size(); ++i) {
    const Slot& slot = slots_[i];
    const bool comes = slot.restarts.all() > 0 && slot.process->running() && !slot.ready_at;
    if (!comes || has_company(i)) continue;
    screen_.on_note(fmt::format("peer {} restarted too late: its neighbours have finished", i));
    slot.process->kill(SIGKILL);
  }
}

/// Schedules a restart if the fleet file asks for it. Returns whether there will be one.
bool Launcher::restart_later(PeerId id) {
  Slot& slot = slots_[id];
  if (!fleet_.fleet.restart || stopping_ || phase_ != Phase::training) return false;
  if (!has_company(id)) return false;
  if (!fleet_.plan(id).successors) {
    say_not_restarted(id);
    return false;
  }
  const Time lived = slot.ready_at ? Clock::now() - *slot.ready_at : Time{0};
  const std::optional<Time> pause = slot.restarts.pause_after(lived);
  if (!pause) return false;
  slot.restart_at = Clock::now() + *pause;
  return true;
}

/// Notes a script that failed after its peer had said goodbye: the fleet lacks nothing, and the run
/// reports the script's exit code.
void Launcher::ended_after_goodbye(PeerId id) {
  const Slot& slot = slots_[id];
  const std::string ending = slot.process->ending();
  const bool killed = ending.starts_with("killed by ") && !ending.ends_with(" 9");  // 9: by us
  const bool failed = killed || (ending.starts_with("exit ") && ending != "exit 0");
  if (!fleet_.fleet.program || !failed || signals_.code() != 0) return;
  lost_.push_back({id, slot.process->pid(), slot.round, ending, slot.last_words,
                   slot.folder + "/stderr.log", false});
  screen_.on_lost(lost_.back());
  failed_after_goodbye_ = true;
}

/// Returns the newest loss of a peer that has had no process since, because its host stayed away.
LostPeer* Launcher::lost_before(PeerId id) {
  const Process& process = *slots_[id].process;
  const auto last = std::ranges::find(lost_.rbegin(), lost_.rend(), id, &LostPeer::peer);
  const bool same = process.pid() == 0 && last != lost_.rend() && last->ending == process.ending();
  return same ? &*last : nullptr;
}

/// Reports and lists a loss once, however often a start fails after it.
void Launcher::note_loss(PeerId id) {
  const Slot& slot = slots_[id];
  const bool unexpected = !stopping_;
  const bool again = restart_later(id);
  if (LostPeer* const before = lost_before(id)) {
    before->restarted = again;
    if (unexpected && !again)
      screen_.on_note(fmt::format("peer {} is not started again: {}", id, before->ending));
    return;
  }
  lost_.push_back({id, slot.process->pid(), slot.round, slot.process->ending(), slot.last_words,
                   slot.folder + "/stderr.log", again});
  if (unexpected) screen_.on_lost(lost_.back());
}

void Launcher::ended(PeerId id) {
  const Slot& slot = slots_[id];
  if (slot.finished) return ended_after_goodbye(id);
  const bool unexpected = !stopping_;
  note_loss(id);
  if (unexpected && phase_ != Phase::training) {
    failed_to_start_ = true;
    kill_all();
  }
  const std::size_t left = slots_.size() - gone();
  if (!stopping_ && left < fleet_.fleet.faults.min_peers) {
    too_few_ = true;
    screen_.on_note(fmt::format("{} peers are left and faults.min_peers is {}: stopping", left,
                                fleet_.fleet.faults.min_peers));
    stop_all();
  }
  observer_.forget(id);
}

}  // namespace gv
