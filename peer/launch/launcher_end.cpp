#include <algorithm>
#include <csignal>
#include <utility>

#include <fmt/format.h>

#include "optim/unknown_figure.h"
#include "peer/launch/launcher.h"
#include "peer/runtime/exit_code.h"
#include "peer/runtime/views.h"

// How a run ends: in time, at its target, by a signal; and what came of it.

namespace gv {
namespace {

using Clock = std::chrono::steady_clock;

/// The time before the end of the grace time at which the peers that still run are killed.
constexpr auto kill_reserve = std::chrono::seconds(1);

}  // namespace

void Launcher::check_time_and_target() {
  if (kill_at_ && Clock::now() >= *kill_at_) kill_all();
  if (silent_until_ && Clock::now() >= *silent_until_) end_silent();
  if (stopping_ || phase_ != Phase::training) return;
  const StopSpec& stop = fleet_.fleet.stop;
  const bool late = stop.time && seconds() >= std::chrono::duration<double>(*stop.time).count();
  if (!late && !observer_.over()) return;
  screen_.on_note(observer_.over() ? aim_text() : "the time is up: stopping after this round");
  stop_all();
}

std::string Launcher::aim_text() const {
  const Round round = observer_.summary()->round;
  if (observer_.target_reached())
    return fmt::format("the target is reached in round {}: stopping", round);
  return fmt::format("no better evaluation in the last {}, by round {}: stopping",
                     fleet_.fleet.stop.patience,
                     round);
}

/// A collective needs every peer, and one has died or is stuck: the others end, and who does not is
/// killed as after a signal.
void Launcher::end_broken(PeerId by) {
  if (std::exchange(broken_, true) || stopping_) return;
  screen_.on_note(
      fmt::format("without peer {} this algorithm cannot complete a round: stopping", by));
  kill_in_time();
  stop_all();
}

void Launcher::note_broken(PeerId by) {
  if (fleet_.does_without_chains()) return note_part_ended(by, chain_ended_text(by));
  if (does_without_supplier(fleet_, by)) return note_part_ended(by, supply_ended_text(by));
  end_broken(by);
}

/// Said once of whom it is: each stage of its chain, or each that it supplied, reports it.
void Launcher::note_part_ended(PeerId by, const std::string& text) {
  if (parts_ended_.insert(by).second && !stopping_) screen_.on_note(text);
}

void Launcher::kill_in_time() {
  kill_at_ =
      Clock::now() + std::max<Time>(fleet_.fleet.grace - kill_reserve, fleet_.fleet.grace / 2);
  observer_.hurry();
}

void Launcher::take_signals() {
  const StopSignals::Wish wish = signals_.take();
  if (wish == StopSignals::Wish::stop_at_once) kill_all();
  if (wish != StopSignals::Wish::stop) return;
  screen_.on_note("stopping: finishing the round, then saving. Once more stops at once.");
  stop_in_order();
}

/// Ends all peers after the same round, each with a checkpoint of it, so that `run --resume` goes
/// on from there.
void Launcher::stop_in_order() {
  kill_in_time();
  if (phase_ != Phase::training) return stop_all();
  if (agree_by_ || stop_by_) return;  // by an order, and then by a signal
  begin_to_stop();
  agree_by_ = Clock::now() + std::min<Time>(std::chrono::seconds(1), fleet_.fleet.grace / 4);
  silent_until_ =
      Clock::now() + std::min<Time>(fleet_.fleet.faults.dead_after, fleet_.fleet.grace / 2);
  tell_all(control::line(control::Halt{}));
}

/// Kills the peers that do not answer, because their neighbours would wait for them until all are
/// killed, and save nothing. A peer answers between two messages, however long its gradient takes.
void Launcher::end_silent() {
  silent_until_.reset();
  const auto answers = [](const Slot& s) { return s.finished || s.halts; };
  if (std::ranges::none_of(slots_, answers)) return;
  for (PeerId i = 0; i < slots_.size(); ++i) {
    Slot& slot = slots_[i];
    if (answers(slot) || !slot.process->running()) continue;
    screen_.on_note(
        fmt::format("peer {} does not answer: it is killed, so that the others can save", i));
    slot.process->kill(SIGKILL);
  }
}

void Launcher::agree_on_last_round() {
  if (stop_by_ && Clock::now() >= *stop_by_) {
    stop_by_.reset();
    stop_all();
  }
  const auto owes = [](const Slot& s) { return s.process->running() && !s.finished && !s.halts; };
  if (!agree_by_ || (std::ranges::any_of(slots_, owes) && Clock::now() < *agree_by_)) return;
  agree_by_.reset();
  Round last = 0;
  for (const Slot& slot : slots_) last = std::max(last, slot.halts.value_or(0));
  if (last == 0 || !within_reach(last)) return stop_all();
  stop_by_ = Clock::now() + fleet_.fleet.grace / 2;
  tell_all(control::line(control::Stop{last}));
}

/// Returns whether every peer can reach round `last` within half of the grace time, at its own pace
/// so far.
bool Launcher::within_reach(Round last) const {
  const double training = seconds() - past_.seconds;
  return std::ranges::all_of(slots_, [&](const Slot& slot) {
    if (!slot.halts || slot.round <= past_.round) return true;
    const auto done = static_cast<double>(slot.round - past_.round);
    const auto missing = static_cast<double>(last - *slot.halts);
    return missing * training / done <= in_seconds(fleet_.fleet.grace) / 2;
  });
}

void Launcher::begin_to_stop() {
  stopping_ = true;
  for (Slot& slot : slots_) {
    slot.restart_at.reset();
    if (std::exchange(slot.stopped_until, {})) slot.process->kill(SIGCONT);
  }
}

void Launcher::stop_all() {
  begin_to_stop();
  for (Slot& slot : slots_) {
    if (phase_ == Phase::starting)
      slot.process->kill(SIGKILL);  // nothing to finish, nothing to save
    if (slot.process->running()) slot.process->tell(control::line(control::Stop{}));
  }
}

void Launcher::kill_all() {
  stopping_ = true;
  for (Slot& slot : slots_) {
    slot.restart_at.reset();
    slot.process->kill(SIGKILL);
  }
  observer_.give_up();
}

/// Counts those that have gone without their last words, and for good.
std::size_t Launcher::gone() const {
  return static_cast<std::size_t>(std::ranges::count_if(
      slots_, [](const Slot& s) { return !s.process->running() && !s.finished && !s.restart_at; }));
}

LaunchResult Launcher::result() const {
  LaunchResult result{.code = exit_code::done,
                      .seconds = seconds_at_end(),
                      .lost = lost_,
                      .gone = gone(),
                      .asked_to_stop = stop_ordered_,
                      .shared = shared_};
  const auto& summary = observer_.summary();
  if (observer_.over()) result.seconds = in_seconds(summary->time);
  if (signals_.code() != 0) {
    result.code = signals_.code();
  } else if (failed_to_start_) {
    result.code = exit_code::could_not_start;
  } else if (!too_few_ && observer_.has_no_model()) {
    result.code = exit_code::peers_lost;
  } else if (too_few_ || !summary || has_diverged(summary->mean.loss)) {
    result.code = exit_code::failed;
  } else if (gone() > 0 || broken_ || !parts_ended_.empty() || failed_after_goodbye_) {
    result.code = exit_code::peers_lost;
  } else if (!summary->sound()) {
    result.code = exit_code::check_failed;
  }
  return result;
}

}  // namespace gv
