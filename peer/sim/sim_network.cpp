#include "peer/sim/sim_network.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <span>

#include <fmt/format.h>

#include "gossip/farewell.h"
#include "gossip/mutant.h"

namespace gv {
namespace {

using std::chrono::milliseconds;

constexpr std::uint64_t most_unacknowledged = 8;

const char* sends(Kind kind) {
  switch (kind) {
    case Kind::model:
      return "sends a half to";
    case Kind::goodbye:
      return "says goodbye to";
    case Kind::fetch:
      return "asks for the model of";
    default:
      return "gives its model to";
  }
}

const char* takes(Kind kind) {
  switch (kind) {
    case Kind::model:
      return "takes the half of";
    case Kind::goodbye:
      return "hears the goodbye of";
    case Kind::fetch:
      return "hears the question of";
    default:
      return "takes the model of";
  }
}

std::vector<std::byte> bytes_of(const Message& m, wire::Numbers numbers) {
  const std::span<const std::byte> payload =
      m.payload ? std::span(m.payload->data(), m.payload->size()) : std::span<const std::byte>{};
  std::vector<std::byte> frame = wire::encode(m, numbers, wire::hash_payload(payload));
  frame.insert(frame.end(), payload.begin(), payload.end());
  return frame;
}

/// What a receiver makes of a stream's beginning. `used`: the bytes of the frame, 0 when it is not
/// all there. An error text when it is none.
std::string parse(std::span<const std::byte> bytes,
                  BufferPool& pool,
                  wire::Header& header,
                  std::size_t& used) {
  constexpr std::uint64_t max_payload = 1 << 20;
  used = 0;
  if (bytes.size() < wire::prefix_bytes) return "";
  const auto raw = bytes.first<wire::prefix_bytes>();
  wire::Prefix prefix;
  if (std::string error = wire::decode_prefix(raw, max_payload, prefix); !error.empty())
    return error;
  const std::size_t whole = wire::prefix_bytes + prefix.header_bytes + prefix.payload_bytes;
  if (bytes.size() < whole) return "";
  const auto head = bytes.subspan(wire::prefix_bytes, prefix.header_bytes);
  if (std::string error = wire::decode_header(raw, head, header); !error.empty()) return error;
  const auto payload =
      bytes.subspan(wire::prefix_bytes + prefix.header_bytes, prefix.payload_bytes);
  const bool damaged = wire::hash_payload(payload) != prefix.payload_hash;
  if (damaged && !mutant(Mutant::believe_damaged_payloads)) return "damaged payload";
  used = whole;
  if (payload.empty()) return "";
  const auto buffer = pool.acquire(payload.size());
  std::memcpy(buffer->data(), payload.data(), payload.size());
  header.message.payload = buffer;
  return "";
}

}  // namespace

SimNetwork::SimNetwork(SimShared& shared, Dice& dice, Processes& processes, const Timing& timing)
    : shared_(shared),
      dice_(dice),
      processes_(processes),
      timing_(timing),
      left_(shared.peers.size(), false) {
  for (const Peer* peer : shared_.peers) {
    shapers_.emplace_back(shared.network, peer->plan.id, shared.seed);
    for (const PeerId other : peer->plan.neighborhood.receivers) edge_of(peer->plan.id, other);
  }
}

SimNetwork::Edge& SimNetwork::edge_of(PeerId a, PeerId b) {
  const std::pair key = std::minmax(a, b);
  const auto [at, made] = edges_.try_emplace({key.first, key.second});
  if (made) {
    at->second.ends[0].self = at->second.ends[1].other = key.first;
    at->second.ends[1].self = at->second.ends[0].other = key.second;
  }
  return at->second;
}

std::uint64_t SimNetwork::life_of_neighbor(PeerId self, PeerId other) {
  return end_of(edge_of(self, other), self).other_life;
}

void SimNetwork::send(PeerId from, PeerId to, Message message) {
  Edge& edge = edge_of(from, to);
  End& end = end_of(edge, from);
  transmit(edge, end, end.session.send(std::move(message)));
}

void SimNetwork::transmit(Edge& edge, End& from, const Session::Numbered& numbered) {
  if (!edge.up) return;
  const Message& m = numbered.message;
  dice_.note(now(), sends(m.kind), from.self, from.other, m.step);
  from.ack_told = from.session.received();
  transmit(
      edge, from, bytes_of(numbered.message, {.number = numbered.number, .ack = from.ack_told}));
}

void SimNetwork::transmit(Edge& edge, End& from, Bytes frame) {
  if (!edge.up) return;
  if (dice_.strikes(Fault::corrupt, now()))
    frame[dice_.below(frame.size())] ^= static_cast<std::byte>(1U << dice_.below(8));
  const int copies = dice_.strikes(Fault::duplicate, now()) ? 2 : 1;
  for (int copy = 0; copy < copies; ++copy) {
    if (from.stalled) {
      from.held.push_back(frame);
    } else {
      launch(edge, from, frame);
    }
  }
}

/// FIFO: what is sent later arrives later.
void SimNetwork::launch(Edge& edge, End& from, const Bytes& frame) {
  Shaper& shaper = shapers_[from.self];
  Time arrival = shaper.arrival(from.other, frame.size(), now());
  End& at = end_of(edge, from.other);
  const auto deliver = [&](Bytes bytes) {
    processes_.run_at(
        arrival, at.self, [this, &edge, &at, outage = edge.outages, bytes = std::move(bytes)] {
          if (outage == edge.outages || mutant(Mutant::take_of_old_connection))
            arrive(edge, at, bytes);
        });
  };
  if (!dice_.strikes(Fault::slice, now())) return deliver(frame);
  for (std::size_t done = 0; done < frame.size();) {
    const std::size_t length = std::min(frame.size() - done, 1 + dice_.below(frame.size()));
    const auto begin = frame.begin() + static_cast<std::ptrdiff_t>(done);
    deliver(Bytes(begin, begin + static_cast<std::ptrdiff_t>(length)));
    done += length;
    arrival += dice_.time(Time{0}, milliseconds(2));
  }
  shaper.hold(from.other, arrival);
}

void SimNetwork::arrive(Edge& edge, End& at, const Bytes& bytes) {
  at.incoming.insert(at.incoming.end(), bytes.begin(), bytes.end());
  const std::uint64_t outage = edge.outages;
  while (outage == edge.outages) {
    wire::Header header;
    std::size_t used = 0;
    if (!parse(at.incoming, pool_, header, used).empty()) {
      dice_.count(Probe::refused_frame);
      dice_.note(now(), "refuses a frame of", at.self, at.other);
      break_link(edge);
      return;
    }
    if (used == 0) return;
    at.incoming.erase(at.incoming.begin(), at.incoming.begin() + static_cast<std::ptrdiff_t>(used));
    take(edge, at, std::move(header));
  }
}

void SimNetwork::take(Edge& edge, End& at, wire::Header header) {
  const bool message = header.kind == wire::FrameKind::message;
  const std::uint64_t ack = message ? header.numbers.ack : header.heartbeat.ack;
  if (!at.session.acknowledge(ack))
    violations_.push_back(fmt::format("peer {}: acknowledged before it was sent", at.self));
  if (!message) {
    shared_.peers[at.self]->heard_round(at.other, header.heartbeat.step);
    return take_leave(at.self);
  }
  switch (at.session.arrive(header.numbers.number)) {
    case Session::Arrival::again:
      return dice_.count(Probe::dropped_repetition);
    case Session::Arrival::gap:
      violations_.push_back(fmt::format("peer {}: a message is missing", at.self));
      return;
    case Session::Arrival::next:
      break;
  }
  at.departed = at.departed || header.message.kind == Kind::goodbye;
  if (at.departed || at.session.received() - at.ack_told >= most_unacknowledged) {
    at.ack_told = at.session.received();
    transmit(edge, at, wire::encode(wire::Heartbeat{at.ack_told, shared_.peers[at.self]->clock()}));
  }
  const Step step = header.message.step;
  const Kind kind = header.message.kind;
  dice_.note(now(), takes(kind), at.self, at.other, step);
  if (kind == Kind::state && header.message.part == 0 && header.message.payload)
    dice_.count(Probe::fetched);
  if (!shared_.peers[at.self]->deliver(std::move(header.message)))
    violations_.push_back(
        fmt::format("peer {} did not expect a message of kind {} and number {} "
                    "from peer {}",
                    at.self,
                    static_cast<int>(kind),
                    step,
                    at.other));
  take_leave(at.self);
}

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

SimNetwork::Edge* SimNetwork::find(PeerId a, PeerId b) {
  const auto at = edges_.find(std::minmax(a, b));
  return at == edges_.end() ? nullptr : &at->second;
}

SimNetwork::Edge& SimNetwork::random_edge() {
  return std::next(edges_.begin(), static_cast<std::ptrdiff_t>(dice_.below(edges_.size())))->second;
}

}  // namespace gv
