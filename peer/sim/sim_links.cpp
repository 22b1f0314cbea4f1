#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "gossip/farewell.h"
#include "gossip/mutant.h"
#include "peer/sim/sim_network.h"

namespace gv {

bool SimNetwork::break_link(Edge& edge) {
  if (!edge.up) return false;
  edge.up = false;
  const std::uint64_t outage = ++edge.outages;
  dice_.note(now(), "loses its link to", edge.ends[0].self, edge.ends[1].self, outage);
  for (End& end : edge.ends) {
    end.incoming.clear();
    end.held.clear();
    end.stalled = false;
    processes_.run_at(now() + timing_.reconnect_within, end.self, [this, &edge, &end, outage] {
      if (edge.up || edge.outages != outage || end.away) return;
      dice_.count(Probe::away);
      set_away(end);
    });
  }
  plan_reconnect(edge);
  return true;
}

void SimNetwork::set_away(End& end) {
  end.away = true;
  end.away_since = now();
  dice_.note(now(), "is without", end.self, end.other);
  Peer& peer = *shared_.peers[end.self];
  gone(end.other) ? peer.died(end.other) : peer.away(end.other);
  leave_in_time(end.self);
}

bool SimNetwork::may_leave(const Edge& edge, const End& end) const {
  const Peer& peer = *shared_.peers[end.self];
  const Farewell farewell{.told = end.session.unacknowledged().empty(),
                          .heard = end.departed,
                          .linked = edge.up,
                          .dead = !edge.up && gone(end.other),
                          .away = end.away,
                          .since = std::max(end.away_since, peer.finishing_since())};
  return gv::may_leave(farewell, now(), peer.plan.patience);
}

void SimNetwork::leave_in_time(PeerId peer) {
  if (!shared_.finished[peer]) return;
  take_leave(peer);
  if (gone(peer)) return;
  processes_.run_at(
      now() + shared_.peers[peer]->plan.patience, peer, [this, peer] { take_leave(peer); });
}

void SimNetwork::take_leave(PeerId peer) {
  if (!shared_.finished[peer] || gone(peer)) return;
  for (auto& [ids, edge] : edges_) {
    if (ids.first != peer && ids.second != peer) continue;
    const End& end = end_of(edge, peer);
    if (may_leave(edge, end)) continue;
    if (end.away) dice_.count(Probe::lingers);
    return;
  }
  left_[peer] = true;
  dice_.note(now(), "ends", peer);
  silence(peer);
}

void SimNetwork::plan_reconnect(Edge& edge) {
  shared_.queue.push(now() + dice_.time(timing_.first_redial, timing_.slowest_redial),
                     [this, &edge, outage = edge.outages] {
                       if (!edge.up && edge.outages == outage) reconnect(edge);
                     });
}

/// A peer that has finished lets no new process in.
bool SimNetwork::refused(const Edge& edge) const {
  const auto refuses = [this](const End& end) {
    return end.other_life != processes_.life(end.other) && shared_.finished[end.self];
  };
  return std::ranges::any_of(edge.ends, refuses);
}

void SimNetwork::reconnect(Edge& edge) {
  auto& [a, b] = edge.ends;
  if (gone(a.self) || gone(b.self)) return;  // risen() dials again
  if (refused(edge)) return;
  const bool blocked = edge.cut_off && now() < dice_.until();
  if (blocked || !processes_.awake(a.self) || !processes_.awake(b.self))
    return plan_reconnect(edge);
  edge.up = true;
  edge.cut_off = false;
  dice_.note(now(), "is linked to", a.self, b.self);
  meet(edge);
}

/// Both Hellos.
void SimNetwork::meet(Edge& edge) {
  std::array<bool, 2> successor{};
  for (std::size_t k = 0; k < 2; ++k) {
    End& end = edge.ends[k];
    const std::uint64_t life = processes_.life(end.other);
    successor[k] = std::exchange(end.other_life, life) != life;
    if (!successor[k]) continue;
    dice_.count(Probe::reborn);
    if (shared_.peers[end.self]->exchanging(end.other)) dice_.count(Probe::left_open);
    if (!mutant(Mutant::keep_session_of_the_dead)) end.session = {};
    end.ack_told = 0;
    end.away = end.departed = false;
    shared_.peers[end.self]->reborn(end.other);
  }
  const std::array received{edge.ends[1].session.received(), edge.ends[0].session.received()};
  for (std::size_t k = 0; k < 2; ++k) {
    End& end = edge.ends[k];
    end.session.acknowledge(received[k]);
    if (mutant(Mutant::forget_sent_on_reconnect)) continue;
    for (const Session::Numbered& numbered : end.session.unacknowledged()) {
      dice_.count(Probe::sent_again);
      transmit(edge, end, numbered);
    }
  }
  for (End& end : edge.ends) {
    shared_.peers[end.self]->heard_round(end.other, shared_.peers[end.other]->clock());
    if (std::exchange(end.away, false)) {
      dice_.count(Probe::back);
      shared_.peers[end.self]->back(end.other);
    }
    if (shared_.on_met) shared_.on_met(end.self);
  }
}

bool SimNetwork::cut_off(Edge& edge, Time length) {
  edge.cut_off = true;
  shared_.queue.push(now() + length, [&edge] { edge.cut_off = false; });
  return break_link(edge);
}

bool SimNetwork::partition(Time length) {
  std::vector<bool> side(shared_.peers.size());
  for (std::size_t i = 0; i < side.size(); ++i) side[i] = dice_.below(2) == 1;
  bool any = false;
  for (auto& [ids, edge] : edges_)
    if (side[ids.first] != side[ids.second]) any = cut_off(edge, length) || any;
  return any;
}

bool SimNetwork::stall(Edge& edge, int ways, Time length) {
  if (!edge.up) return false;
  const std::size_t first = dice_.below(2);
  for (int way = 0; way < ways; ++way) {
    End& end = edge.ends[(first + static_cast<std::size_t>(way)) % 2];
    end.stalled = true;
    shared_.queue.push(now() + length, [this, &edge, &end, outage = edge.outages] {
      if (edge.up && edge.outages == outage) end_stall(edge, end);
    });
  }
  if (length < timing_.dead_after) return true;
  shared_.queue.push(now() + timing_.dead_after, [this, &edge, outage = edge.outages] {
    const bool stalled = edge.ends[0].stalled || edge.ends[1].stalled;
    if (!edge.up || edge.outages != outage || !stalled) return;
    dice_.count(Probe::silence);
    break_link(edge);
  });
  return true;
}

void SimNetwork::end_stall(Edge& edge, End& from) {
  from.stalled = false;
  std::vector<Bytes> held;
  held.swap(from.held);
  for (const Bytes& frame : held) launch(edge, from, frame);
}

void SimNetwork::silence(PeerId peer) {
  for (auto& [ids, edge] : edges_) {
    if (ids.first != peer && ids.second != peer) continue;
    break_link(edge);
    End& other = end_of(edge, end_of(edge, peer).other);
    if (other.away && gone(peer)) shared_.peers[other.self]->died(peer);
    take_leave(other.self);
  }
}

void SimNetwork::risen(PeerId peer) {
  for (auto& [ids, edge] : edges_) {
    if (ids.first != peer && ids.second != peer) continue;
    End& own = end_of(edge, peer);
    own.session = {};
    own.ack_told = 0;
    own.departed = false;
    own.other_life = processes_.life(own.other);
    set_away(own);
    plan_reconnect(edge);
  }
}

}  // namespace gv
