#include <algorithm>
#include <csignal>
#include <utility>

#include <fmt/format.h>

#include "gossip/links.h"
#include "peer/launch/launcher.h"

// Peers that die, and those that the fleet file lets die or stand still.

namespace gv {
namespace {

using Clock = std::chrono::steady_clock;

}  // namespace

void Launcher::restart_when_due() {
  for (PeerId i = 0; i < slots_.size(); ++i) {
    Slot& slot = slots_[i];
    if (!slot.restart_at || Clock::now() < *slot.restart_at) continue;
    slot.restart_at.reset();
    slot.restarts.count();
    slot.earlier += std::exchange(slot.told, {});
    start(i, {"--rejoin", "--clock", fmt::format("{:.9f}", training_seconds())});
    const pid_t pid = slot.process->pid();  // on another machine it is not known yet
    screen_.on_note(
        fmt::format("peer {} starts again{}", i, pid > 0 ? fmt::format(" (pid {})", pid) : ""));
    if (screen_.on_restarted) screen_.on_restarted(i);
    observer_.expect(i);
  }
}

/// Counts what was to happen before the checkpoint as having happened.
void Launcher::pass_over_injections() {
  for (const Injection& injection : fleet_.fleet.faults.inject)
    if (in_seconds(injection.at) < past_.seconds) ++injected_;
}

/// Does what the fleet file lets go wrong, at its time; and ends a standstill.
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
                                  injection.peer,
                                  injection.other,
                                  length));
      for (const auto& [peer, other] :
           {std::pair{injection.peer, injection.other}, std::pair{injection.other, injection.peer}})
        if (slots_[peer].process->running())
          slots_[peer].process->tell(control::line(control::Cut{other, injection.length}));
      break;
  }
}

/// Its neighbours would refuse the new process, as often as it came.
void Launcher::say_not_restarted(PeerId id) {
  screen_.on_note(fmt::format(
      "peer {} is not started again: {} cannot replace a peer that has died{}",
      id,
      fleet_.algorithm->kind,
      fleet_.fleet.checkpoint.every ? " (run --resume continues from the checkpoints)" : ""));
}

/// Returns whether anybody trains, or will again, with whom it exchanges; where nobody exchanges,
/// anybody.
bool Launcher::has_company(PeerId id) const {
  const auto trains = [](const Slot& s) {
    return !s.finished && (s.process->running() || s.restart_at.has_value());
  };
  const std::vector<PeerId> neighbors = links_of(fleet_.plan(id));
  if (neighbors.empty()) return std::ranges::any_of(slots_, trains);
  return std::ranges::any_of(neighbors, [&](PeerId j) { return trains(slots_[j]); });
}

/// Who has been started again waits for a neighbour, and when all of these have finished nobody
/// comes: its own last model is that of a round that they passed long ago.
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

/// Returns whether it will be, where the fleet file asks for it.
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

/// A script may fail after its peer has said goodbye: the fleet lacks nothing, and the run reports
/// the exit code that the script chose.
void Launcher::ended_after_goodbye(PeerId id) {
  const Slot& slot = slots_[id];
  const std::string ending = slot.process->ending();
  const bool failed = ending.starts_with("exit ") && ending != "exit 0";
  if (!fleet_.fleet.program || !failed || signals_.code() != 0) return;
  lost_.push_back({id,
                   slot.process->pid(),
                   slot.round,
                   ending,
                   slot.last_words,
                   slot.folder + "/stderr.log",
                   false});
  screen_.on_lost(lost_.back());
  failed_after_goodbye_ = true;
}

void Launcher::ended(PeerId id) {
  const Slot& slot = slots_[id];
  if (slot.finished) return ended_after_goodbye(id);
  const bool unexpected = !stopping_;
  lost_.push_back({id,
                   slot.process->pid(),
                   slot.round,
                   slot.process->ending(),
                   slot.last_words,
                   slot.folder + "/stderr.log",
                   restart_later(id)});
  if (unexpected) screen_.on_lost(lost_.back());
  if (unexpected && phase_ != Phase::training) {
    failed_to_start_ = true;
    kill_all();
  }
  const std::size_t left = slots_.size() - gone();
  if (!stopping_ && left < fleet_.fleet.faults.min_peers) {
    too_few_ = true;
    screen_.on_note(fmt::format("{} peers are left and faults.min_peers is {}: stopping",
                                left,
                                fleet_.fleet.faults.min_peers));
    stop_all();
  }
  observer_.forget(id);
}

}  // namespace gv
