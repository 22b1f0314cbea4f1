#include "peer/launch/launcher/launcher.h"

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>
#include <poll.h>

#include "optim/unknown_figure.h"
#include "peer/launch/process/process.h"
#include "peer/record/joined_models.h"
#include "peer/runtime/exit_code.h"
#include "peer/runtime/views.h"

namespace gv {
namespace {

using Clock = std::chrono::steady_clock;

/// Time before the end of the grace time at which the peers that still run are killed.
constexpr auto kill_reserve = std::chrono::seconds(1);

constexpr int tick_ms = 100;

}  // namespace

// The end of a run, by its time, its target or a signal, and its result.

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
                     fleet_.fleet.stop.patience, round);
}

/// Stops the run after peer `by` has died or is stuck, because a collective needs every peer. A
/// peer that does not end is killed as after a signal.
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

/// Prints the note once per lost peer: each stage of its chain, or each supplied peer, reports it.
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

/// Ends all peers after the same round, with checkpoints from which `run --resume` continues.
void Launcher::stop_in_order() {
  kill_in_time();
  if (phase_ != Phase::training) return stop_all();
  if (agree_by_ || stop_by_) return;  // an order came first, then a signal
  begin_to_stop();
  agree_by_ = Clock::now() + std::min<Time>(std::chrono::seconds(1), fleet_.fleet.grace / 4);
  constexpr Time least = std::chrono::seconds(3);  // for a peer that is short of CPU time
  const Time silence = std::max<Time>(fleet_.fleet.faults.dead_after, least);
  silent_until_ = Clock::now() + std::min<Time>(silence, fleet_.fleet.grace / 2);
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

/// Returns whether every peer can reach round `last` in half of the grace time at its average pace.
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
    if (phase_ == Phase::starting || slot.process->pid() == 0)
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

/// Returns the number of peers that ended without a last report and are not restarted.
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

std::optional<Time> Restarts::pause_after(Time lived) {
  constexpr Time first = std::chrono::milliseconds(100);
  if (lived >= a_while) in_a_row_ = 0;
  if (in_a_row_ >= most_in_a_row) return {};
  return first * (1 << in_a_row_++);
}

Launcher::Launcher(const Assembly& fleet,
                   const RunFolder& folder,
                   Observer& observer,
                   Places& places,
                   LaunchOptions options,
                   LaunchScreen screen)
    : fleet_(fleet),
      folder_(folder),
      observer_(observer),
      places_(places),
      options_(std::move(options)),
      screen_(std::move(screen)) {
  slots_.resize(fleet.fleet.size());
  past_ = options_.from.value_or(Resumed{});
  for (PeerId i = 0; i < past_.costs.size(); ++i) slots_.at(i).earlier = past_.costs[i];
  observer_.aim_at(fleet.aims());
  observer_.recall(std::move(past_.recalled));
  std::vector<std::string> past;
  pass_over_injections();
  if (options_.from) past = {"--from", std::to_string(past_.round)};
  for (PeerId i = 0; i < fleet.fleet.size(); ++i) start(i, past);
}

Launcher::~Launcher() {
  for (const Slot& slot : slots_)
    if (slot.log != nullptr) std::fclose(slot.log);
}

void Launcher::start(PeerId id, const std::vector<std::string>& past) {
  Slot& slot = slots_[id];
  slot.folder = folder_.peer(id);
  const std::string log = slot.folder + "/stderr.log";
  if (slot.log == nullptr) slot.log = std::fopen(log.c_str(), "ae");
  slot.stopped_until.reset();
  slot.listens = slot.refused = false;
  slot.kept.reset();
  if (slot.log == nullptr) throw std::runtime_error(log + ": cannot be written");
  slot.process = places_.start(id, past);
  slot.ready_at.reset();
  if (!options_.keys.empty()) {
    std::string keys = control::line(control::Keys{options_.keys.at(id)});
    slot.process->tell(keys);
    wipe(keys);
  }
  keep_pid(id);
}

/// Writes the pid for programs that watch the run. On another machine the pid is known when the
/// process is there: perhaps much later, if the machine sleeps.
void Launcher::keep_pid(PeerId id) {
  Slot& slot = slots_[id];
  const pid_t pid = slot.process->pid();
  if (pid > 0 && std::exchange(slot.returns, false)) {
    screen_.on_note(fmt::format("peer {} starts again (pid {})", id, pid));
    if (screen_.on_restarted) screen_.on_restarted(id);
  }
  if (pid == 0 || pid == std::exchange(slot.kept_pid, pid)) return;
  try {
    folder_.write(fmt::format("peers/{:03}/pid", id), fmt::format("{}\n", pid));
  } catch (const std::runtime_error& full) {  // the fleet does not need it
    screen_.on_note(full.what());
  }
}

LaunchResult Launcher::run() {
  while (any_running() || observer_.waits()) {
    wait_for_events();
    observer_.work();
    places_.work();
    for (const std::string& note : places_.take_notes()) screen_.on_note(note);
    take_signals();
    agree_on_last_round();
    for (PeerId i = 0; i < slots_.size() && can_hear(); ++i) hear(i);
    restart_when_due();
    end_who_comes_too_late();
    inject_when_due();
    check_time_and_target();
    take_orders();
    show_state(false);
    if (phase_ == Phase::training && screen_.on_tick)
      screen_.on_tick(slowest_round(), seconds(), alive());
  }
  show_state(true);
  return result();
}

void Launcher::wait_for_events() {
  std::vector<pollfd> fds{{signals_.fd(), POLLIN, 0}};
  if (can_hear())
    for (const Slot& slot : slots_) slot.process->add_to(fds);
  places_.add_to(fds);
  observer_.add_to(fds);
  ::poll(fds.data(), fds.size(), tick_ms);
}

/// Returns false while the observer lags: the peers' messages then stay in their pipes, so that
/// only a few models wait here.
bool Launcher::can_hear() const {
  constexpr std::size_t reports_of_each = 4;
  return observer_.behind() < reports_of_each * slots_.size();
}

void Launcher::hear(PeerId id) {
  Slot& slot = slots_[id];
  const auto log = [&](const std::string& line) {
    keep_last_words(slot.last_words, line);
    fmt::print(slot.log, "{}\n", line);
    std::fflush(slot.log);
    screen_.on_log(id, line);
  };
  const bool has_ended = gv::hear(
      *slot.process,
      [&](const std::string& line) { handle_message(id, control::parse_peer(line)); }, log);
  keep_pid(id);
  if (has_ended) ended(id);
}

void Launcher::handle_message(PeerId id, const control::PeerSays& says) {
  Slot& slot = slots_[id];
  if (const auto* listening = std::get_if<control::Listening>(&says)) {
    slot.port = listening->port;
    slot.listens = true;
    if (phase_ == Phase::training) return introduce(id);
    if (std::ranges::all_of(slots_, [](const Slot& s) { return s.port != 0; })) send_addresses();
  } else if (std::holds_alternative<control::Ready>(says)) {
    slot.ready = true;
    slot.ready_at = std::chrono::steady_clock::now();
    if (!began_) began_ = Clock::now();
    if (std::ranges::all_of(slots_, &Slot::ready)) phase_ = Phase::training;
  } else if (const auto* shares = std::get_if<control::Shares>(&says)) {
    if (shares->peer < slots_.size()) shared_.insert(std::minmax(id, shares->peer));
  } else if (const auto* progress = std::get_if<control::Progress>(&says)) {
    slot.round = progress->round;
    slot.heard = seconds();
    slot.spent = progress->spent;
    slot.staleness = progress->staleness;
    slot.queue = progress->queue;
    slot.waits.clear();
    for (const auto& [peer, late, wire, longest] : progress->waits)
      slot.waits.push_back({peer, in_seconds(late), in_seconds(wire), in_seconds(longest)});
  } else if (const auto* reported = std::get_if<control::Reported>(&says)) {
    take_report(id, *reported);
  } else if (const auto* kept = std::get_if<control::Kept>(&says)) {
    take_candidate(id, kept->round);
  } else if (const auto* halts = std::get_if<control::Halts>(&says)) {
    slot.halts = halts->round;
  } else if (const auto* full = std::get_if<control::NoSpace>(&says)) {
    tell_no_space(id, full->text);
  } else if (const auto* bad = std::get_if<control::BadReport>(&says)) {
    refuse(id, "its report makes no sense: " + bad->what);
  }
}

/// Kills a peer whose report is invalid, as if it had crashed.
void Launcher::refuse(PeerId id, const std::string& why) {
  Slot& slot = slots_[id];
  if (std::exchange(slot.refused, true)) return;
  screen_.on_note(fmt::format("peer {} is killed: {}", id, why));
  slot.process->kill(SIGKILL);
}

/// Takes the vector of a report. Returns false and kills the peer if no vector fits the model.
bool Launcher::receive_model(PeerId id, Report& report) {
  report.model = slots_[id].process->take_vector(fleet_.dimension * sizeof(float));
  if (slots_[id].refused) return false;
  if (report.model && report.peer == id && can_be_of(fleet_.fleet, fleet_.dimension, report))
    return true;
  refuse(id, report.model
                 ? "its report is of no part of the fleet's model"
                 : "the vector of its report has not come or is longer than the model: did "
                   "its program close descriptor 3?");
  return false;
}

void Launcher::take_report(PeerId id, control::Reported says) {
  Slot& slot = slots_[id];
  if (!receive_model(id, says.report)) return;
  slot.round = slot.reported = says.report.round;
  slot.heard = seconds();
  slot.sent_bytes = slot.earlier.sent_bytes + says.report.costs.sent_bytes;
  slot.spent = says.report.costs.spent;
  slot.finished = slot.finished || says.report.last;
  if (slot.finished) ended_ = Clock::now();
  if (const auto by = says.report.broken_by) note_broken(*by);
  slot.told = says.report.costs;
  says.report.costs += slot.earlier;
  observer_.take(std::move(says.report),
                 std::chrono::duration_cast<Time>(std::chrono::duration<double>(seconds())));
}

std::vector<PeerAddress> Launcher::addresses(PeerId by) const {
  std::vector<PeerAddress> all;
  for (PeerId i = 0; i < slots_.size(); ++i) all.push_back(places_.road(by, i, slots_[i].port));
  return all;
}

/// Returns the addresses, and the token by which its neighbours on its machine recognise it.
std::string Launcher::first_addresses(PeerId id) const {
  return control::line(control::Addresses{addresses(id), std::string(token_.text())});
}

void Launcher::send_addresses() {
  phase_ = Phase::connecting;
  for (PeerId i = 0; i < slots_.size(); ++i) slots_[i].process->tell(first_addresses(i));
}

/// Exchanges addresses between a restarted peer and the others. A peer that has not yet reported
/// its port receives all addresses when it does.
void Launcher::introduce(PeerId id) {
  slots_[id].process->tell(first_addresses(id));
  if (hold_.next > 0) slots_[id].process->tell(control::line(hold_));
  for (PeerId i = 0; i < slots_.size(); ++i)
    if (i != id && slots_[i].listens && slots_[i].process->running())
      slots_[i].process->tell(
          control::line(control::Addresses{{places_.road(i, id, slots_[id].port)}}));
}

bool Launcher::any_running() const {
  return std::ranges::any_of(
      slots_, [](const Slot& s) { return s.process->running() || s.restart_at.has_value(); });
}

/// Returns the seconds of training, earlier parts of the run included.
double Launcher::seconds() const {
  return past_.seconds +
         (began_ ? std::chrono::duration<double>(Clock::now() - *began_).count() : 0);
}

/// Returns the seconds of training until the last peer had finished.
double Launcher::seconds_at_end() const {
  if (!began_ || !ended_) return past_.seconds;
  return past_.seconds + std::chrono::duration<double>(*ended_ - *began_).count();
}

/// Returns the seconds of training without those that evaluations and checkpoints took, at the peer
/// that spent the most on them.
double Launcher::training_seconds() const {
  Time looking{0};
  for (const Slot& slot : slots_)
    looking = std::max(looking, slot.spent[Activity::evaluate] + slot.spent[Activity::checkpoint]);
  return past_.training_seconds + std::max(0.0, seconds() - past_.seconds - in_seconds(looking));
}

std::size_t Launcher::alive() const {
  return static_cast<std::size_t>(
      std::ranges::count_if(slots_, [](const Slot& s) { return s.works(); }));
}

}  // namespace gv
