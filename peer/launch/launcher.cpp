#include "peer/launch/launcher.h"

#include <algorithm>
#include <cstdio>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>
#include <poll.h>

#include "peer/launch/hear.h"
#include "peer/record/joined_models.h"

namespace gv {
namespace {

using Clock = std::chrono::steady_clock;
constexpr int tick_ms = 100;

}  // namespace

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

/// Writes the pid for whoever watches the run; on another machine it is known a little later.
void Launcher::keep_pid(PeerId id) {
  Slot& slot = slots_[id];
  const pid_t pid = slot.process->pid();
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

/// Returns false while the observer, who may be slower than the peers, is behind: what they say
/// waits with them then, so that no more than some models wait here.
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
      *slot.process, [&](const std::string& line) { heed(id, control::parse_peer(line)); }, log);
  keep_pid(id);
  if (has_ended) ended(id);
}

void Launcher::heed(PeerId id, const control::PeerSays& says) {
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

/// Ends one peer whose report makes no sense, as if it had crashed.
void Launcher::refuse(PeerId id, const std::string& why) {
  Slot& slot = slots_[id];
  if (std::exchange(slot.refused, true)) return;
  screen_.on_note(fmt::format("peer {} is killed: {}", id, why));
  slot.process->kill(SIGKILL);
}

/// Takes the vector of a report; false, and the peer is lost, if there is none that fits the model.
bool Launcher::receive_model(PeerId id, Report& report) {
  report.model = slots_[id].process->take_vector(fleet_.dimension * sizeof(float));
  if (slots_[id].refused) return false;
  if (report.model && report.peer == id && can_be_of(fleet_.fleet, fleet_.dimension, report))
    return true;
  refuse(id,
         report.model ? "its report is of no part of the fleet's model"
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

/// Returns the addresses and the token by which its neighbours on its machine know it.
std::string Launcher::first_addresses(PeerId id) const {
  return control::line(control::Addresses{addresses(id), std::string(token_.text())});
}

void Launcher::send_addresses() {
  phase_ = Phase::connecting;
  for (PeerId i = 0; i < slots_.size(); ++i) slots_[i].process->tell(first_addresses(i));
}

/// A restarted peer and the others get to know each other's addresses; those who have yet to say
/// where they listen are told then, all at once.
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

/// Counts the seconds of training, earlier parts of the run included.
double Launcher::seconds() const {
  return past_.seconds +
         (began_ ? std::chrono::duration<double>(Clock::now() - *began_).count() : 0);
}

/// Counts them up to when the last peer had finished.
double Launcher::seconds_at_end() const {
  if (!began_ || !ended_) return past_.seconds;
  return past_.seconds + std::chrono::duration<double>(*ended_ - *began_).count();
}

/// Leaves out what the peer that spent most on evaluations and checkpoints spent on them.
double Launcher::training_seconds() const {
  Time looking{0};
  for (const Slot& slot : slots_)
    looking = std::max(looking, slot.spent[Activity::evaluate] + slot.spent[Activity::checkpoint]);
  return past_.training_seconds + std::max(0.0, seconds() - past_.seconds - in_seconds(looking));
}

std::size_t Launcher::alive() const {
  return static_cast<std::size_t>(
      std::ranges::count_if(slots_, [](const Slot& s) { return s.process->running(); }));
}

}  // namespace gv
