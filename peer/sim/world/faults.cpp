#include "peer/sim/world/faults.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include <fmt/format.h>

namespace gv {
namespace {

Time between(Rng& rng, Time least, Time most) {
  const double span = static_cast<double>(std::max(Time{0}, most - least).count());
  return least + Time{static_cast<std::int64_t>(rng.uniform() * span)};
}

/// Draws a length on a logarithmic scale.
Time length_between(Rng& rng, Time least, Time most) {
  if (most <= least) return std::max(most, Time{1});
  const double ratio = static_cast<double>(most.count()) / static_cast<double>(least.count());
  return Time{static_cast<std::int64_t>(static_cast<double>(least.count()) *
                                        std::pow(ratio, rng.uniform()))};
}

using std::chrono::milliseconds;

/// One in this many dead processes has no successor.
constexpr std::uint64_t heirless = 5;
/// One in this many dies with its machine, so that no peer is notified.
constexpr std::uint64_t machines = 4;
/// Time until the launcher replaces a dead process, if it does.
constexpr Time restart_after = milliseconds(100);

}  // namespace

std::vector<Accident> overlapping_accidents(Rng rng, const AccidentBounds& bounds) {
  using enum Accident::Kind;
  constexpr std::array kinds{freeze, freeze, cut, cut, cut, one_way, slow, kill};
  std::vector<Accident> all;
  Time from = bounds.from, latest = bounds.from + (bounds.until - bounds.from) / 3;
  for (std::uint64_t k = 1 + rng.below(3); k > 0; --k) {
    Accident one{.kind = kinds.at(rng.below(kinds.size() - (bounds.kills ? 0 : 1))),
                 .peer = static_cast<PeerId>(rng.below(bounds.peers)),
                 .at = between(rng, from, latest)};
    one.length = length_between(rng, std::max(Time{1}, bounds.least), bounds.until - one.at);
    one.factor = 2 * std::pow(15, rng.uniform());
    const std::vector<PeerId> links = bounds.links(one.peer);
    if (!links.empty() && rng.below(2) == 0) one.other = links[rng.below(links.size())];
    from = one.at;
    latest = one.at + one.length;
    all.push_back(one);
  }
  return all;
}

Faults::Faults(SimShared& shared,
               FaultInjector& injector,
               FaultHands hands,
               const LinkParts& parts,
               Time dead_after)
    : shared_(shared),
      injector_(injector),
      dead_after_(dead_after),
      hands_(std::move(hands)),
      processes_(shared.queue, static_cast<PeerId>(shared.peers.size())),
      network_(shared, injector, processes_, parts) {}

void Faults::start(bool succeed) {
  succeeded_ = succeed;
  if (network_.empty()) return;
  for (const Fault fault : {Fault::reset, Fault::cut_off, Fault::one_way, Fault::half_open,
                            Fault::partition, Fault::pause, Fault::slow, Fault::clock, Fault::crash,
                            Fault::poison, Fault::disk_full, Fault::torn, Fault::lie})
    plan_next(fault);
}

void Faults::heard(PeerId from, const PeerEvent& event) {
  if (std::holds_alternative<event::NotFiniteCame>(event)) injector_.count(Probe::not_finite);
  if (std::holds_alternative<event::DeadlinePassed>(event)) injector_.count(Probe::deadline);
  if (const auto* passed = std::get_if<event::PassedOver>(&event)) hands_.leap(from, passed->to);
  if (const auto* given = std::get_if<event::GaveUp>(&event)) hands_.give_up(from, given->peer);
  if (injector_.traced())
    injector_.tell(now(), fmt::format("peer {} says: {}", from, to_text(event)));
}

void Faults::plan_next(Fault fault) {
  const double rate = injector_.rate(fault);
  if (rate == 0) return;
  const double wait = -std::log(1 - injector_.uniform()) / rate;
  const Time at = now() + Time{static_cast<std::int64_t>(wait * 1e9)};
  if (at >= injector_.until()) return;
  shared_.queue.push(at, [this, fault] {
    if (strike(fault)) injector_.count(fault);
    plan_next(fault);
  });
}

Time Faults::drawn_length() {
  return injector_.time(dead_after_ / 40, 2 * dead_after_);
}

/// Returns false if it found nothing to harm.
bool Faults::strike(Fault fault) {
  const auto victim = static_cast<PeerId>(injector_.below(shared_.peers.size()));
  if (injector_.traced())
    injector_.tell(now(), fmt::format("fault {}", fault_names[static_cast<std::size_t>(fault)]));
  switch (fault) {
    case Fault::reset:
      return network_.reset(network_.random_pair());
    case Fault::cut_off:
      return network_.cut_off(network_.random_pair(), drawn_length());
    case Fault::one_way:
      return network_.stall(network_.random_pair(), 1, drawn_length());
    case Fault::half_open:
      return network_.stall(network_.random_pair(), 2, drawn_length());
    case Fault::partition:
      return network_.partition(drawn_length());
    case Fault::pause:
      return pause(victim, injector_.time(dead_after_ / 400, dead_after_ * 5 / 2));
    case Fault::slow:
      return slow(victim, injector_.factor(1, 100));
    case Fault::clock:
      return set_clock(victim, injector_.factor(0.5, 2));
    case Fault::crash:
      return crash(victim);
    case Fault::poison:
      return hands_.poison(victim);
    case Fault::disk_full:
      return hands_.fill_disk(victim);
    case Fault::torn:
      return hands_.tear(victim);
    case Fault::lie:
      return lie(victim);
    case Fault::corrupt:
    case Fault::duplicate:
    case Fault::slice:
      break;  // hit frames instead
    case Fault::accident:
      break;  // drawn before the run
  }
  return false;
}

void Faults::inject(const std::vector<Injection>& list, bool restart) {
  // Faults begin after time 0, when the fleet makes its first connections.
  for (const Injection& injection : list)
    shared_.queue.push(std::max(injection.at, Time{1}),
                       [this, injection, restart] { inject(injection, restart); });
}

void Faults::inject(const Injection& injection, bool restart) {
  const PeerId peer = injection.peer;
  switch (injection.kind) {
    case Injection::Kind::kill:
      if (kill(peer, false) && restart)
        shared_.queue.push(now() + restart_after, [this, peer] { succeed(peer); });
      break;
    case Injection::Kind::start:
      succeed(peer);
      break;
    case Injection::Kind::stop:
      pause(peer, injection.length);
      break;
    case Injection::Kind::cut:
      network_.cut(peer, injection.other, injection.length);
      break;
  }
}

void Faults::suffer(const std::vector<Accident>& accidents) {
  for (const Accident& accident : accidents)
    shared_.queue.push(accident.at, [this, accident] { strike(accident); });
}

void Faults::strike(const Accident& accident) {
  const PeerId peer = accident.peer;
  injector_.count(Fault::accident);
  const auto afterwards = [&](std::function<void()> f) {
    shared_.queue.push(now() + accident.length, std::move(f));
  };
  switch (accident.kind) {
    case Accident::Kind::freeze:
      pause(peer, accident.length);
      break;
    case Accident::Kind::cut:
    case Accident::Kind::one_way:
      part(accident);
      break;
    case Accident::Kind::kill:
      if (!kill(peer, false)) break;
      injector_.count(Fault::crash);
      if (accident.succeeds) afterwards([this, peer] { succeed(peer); });
      break;
    case Accident::Kind::slow:
      slow(peer, accident.factor);
      afterwards([this, peer] { slow(peer, 1); });
      break;
    case Accident::Kind::clock:
      processes_.set_clock_ahead(peer, accident.length);
      break;
  }
}

void Faults::part(const Accident& accident) {
  for (const PeerId other : links_of(shared_.peers[accident.peer]->plan)) {
    if (accident.other.value_or(other) != other) continue;
    accident.kind == Accident::Kind::cut ? network_.cut(accident.peer, other, accident.length)
                                         : network_.silence(accident.peer, other, accident.length);
  }
}

bool Faults::pause(PeerId victim, Time length) {
  if (processes_.dead(victim)) return false;
  processes_.pause(victim, now() + length);
  return true;
}

bool Faults::slow(PeerId victim, double factor) {
  if (processes_.dead(victim)) return false;
  processes_.slow(victim, factor);
  return true;
}

bool Faults::set_clock(PeerId victim, double rate) {
  if (processes_.dead(victim)) return false;
  processes_.set_clock(victim, rate);
  return true;
}

bool Faults::lie(PeerId victim) {
  if (processes_.dead(victim) || shared_.finished[victim] || !hands_.lie(victim)) return false;
  network_.lie(victim, all_lies.at(injector_.below(all_lies.size())));
  return true;
}

bool Faults::kill(PeerId victim, bool with_machine) {
  if (processes_.dead(victim) || shared_.finished[victim]) return false;
  processes_.die(victim);
  network_.died(victim, with_machine);
  hands_.die(victim);
  return true;
}

bool Faults::crash(PeerId victim) {
  if (!kill(victim, injector_.below(machines) == 0)) return false;
  if (!succeeded_ || injector_.below(heirless) == 0) return true;
  shared_.queue.push(now() + injector_.time(dead_after_ / 40, dead_after_ * 5 / 2),
                     [this, victim] { succeed(victim); });
  return true;
}

/// Kills the peer as if it ended with an error. One that averages should begin with the peers that
/// are there instead, unless a neighbour has died unmet, which no peer can report to it.
void Faults::cannot_begin(PeerId peer) {
  const Plan& plan = shared_.peers[peer]->plan;
  const bool died_unmet = std::ranges::any_of(links_of(plan), [&](PeerId other) {
    return processes_.dead(other) && !network_.life_of_neighbor(peer, other);
  });
  if (!plan.catch_up || died_unmet) kill(peer, false);
}

void Faults::succeed(PeerId victim) {
  if (!processes_.dead(victim)) return;
  injector_.note(now(), "starts again", victim);
  processes_.rise(victim);
  hands_.rise(victim);
}

}  // namespace gv
