#include "peer/sim/sim_network.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <span>

#include <fmt/format.h>

#include "gossip/mutant.h"

namespace gv {
namespace {

using std::chrono::milliseconds;

constexpr std::uint64_t most_unacknowledged = 8;

const char* sends(Kind kind) {
  switch (kind) {
    case Kind::contribution:
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
    case Kind::contribution:
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
  dice_.note(now(), sends(m.kind), from.self, from.other, m.number);
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
  const std::uint64_t step = header.message.number;
  const Kind kind = header.message.kind;
  dice_.note(now(), takes(kind), at.self, at.other, step);
  if (kind == Kind::model_copy && header.message.part == 0 && header.message.payload)
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

SimNetwork::Edge* SimNetwork::find(PeerId a, PeerId b) {
  const auto at = edges_.find(std::minmax(a, b));
  return at == edges_.end() ? nullptr : &at->second;
}

SimNetwork::Edge& SimNetwork::random_edge() {
  return std::next(edges_.begin(), static_cast<std::ptrdiff_t>(dice_.below(edges_.size())))->second;
}

}  // namespace gv
