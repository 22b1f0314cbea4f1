#include "peer/sim/faults.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <iterator>
#include <span>

#include <fmt/format.h>

namespace gv {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

// Times of a fleet whose rounds take about a millisecond.
constexpr Time reconnect_within{milliseconds(20)};
constexpr Time dead_after{milliseconds(40)};
constexpr Time first_redial{milliseconds(1)};
constexpr Time slowest_redial{milliseconds(15)};
constexpr std::uint64_t most_unacknowledged = 8;

std::vector<std::byte> bytes_of(const Message& m, wire::Numbers numbers) {
  const std::span<const std::byte> payload =
      m.payload ? std::span(m.payload->data(), m.payload->size()) : std::span<const std::byte>{};
  std::vector<std::byte> frame = wire::encode(m, numbers, wire::hash_payload(payload));
  frame.insert(frame.end(), payload.begin(), payload.end());
  return frame;
}

/// What a receiver makes of one frame's bytes; an error text when it is not one.
std::string parse(const std::vector<std::byte>& frame, BufferPool& pool, wire::Header& header) {
  const std::span<const std::byte> bytes(frame);
  if (bytes.size() < wire::prefix_bytes) return "truncated";
  const auto raw = bytes.first<wire::prefix_bytes>();
  wire::Prefix prefix;
  if (std::string error = wire::decode_prefix(raw, frame.size(), prefix); !error.empty())
    return error;
  if (bytes.size() != wire::prefix_bytes + prefix.header_bytes + prefix.payload_bytes)
    return "truncated";
  const auto head = bytes.subspan(wire::prefix_bytes, prefix.header_bytes);
  if (std::string error = wire::decode_header(raw, head, header); !error.empty()) return error;
  const auto payload = bytes.subspan(wire::prefix_bytes + prefix.header_bytes);
  if (wire::hash_payload(payload) != prefix.payload_hash) return "damaged payload";
  if (payload.empty()) return "";
  const auto buffer = pool.acquire(payload.size());
  std::memcpy(buffer->data(), payload.data(), payload.size());
  header.message.payload = buffer;
  return "";
}

}  // namespace

Faults::Faults(SimShared& shared, std::uint64_t seed, Time until)
    : shared_(shared), rng_(Rng(seed).derive("faults")), until_(until) {
  // Each class is on in 6 of 10 seeds, at a rate between once and a hundred times in the base time.
  constexpr std::array<double, fault_names.size()> base{20, 1e-4, 1e-3, 4, 4, 4};
  for (std::size_t k = 0; k < rates_.size(); ++k) {
    const bool on = rng_.uniform() < 0.6;
    rates_[k] = on ? base[k] * std::pow(100.0, rng_.uniform()) : 0;
  }
}

void Faults::start() {
  processes_.resize(shared_.peers.size());
  for (const auto& peer : shared_.peers) {
    for (const PeerId other : peer->plan.neighborhood.receivers) edge_of(peer->plan.id, other);
  }
  if (edges_.empty()) return;
  for (const Fault fault : {Fault::reset, Fault::cut_off, Fault::pause, Fault::slow})
    plan_next(fault);
}

Faults::Edge& Faults::edge_of(PeerId a, PeerId b) {
  const std::pair key = std::minmax(a, b);
  const auto [at, made] = edges_.try_emplace({key.first, key.second});
  if (made) {
    at->second.ends[0].self = at->second.ends[1].other = key.first;
    at->second.ends[1].self = at->second.ends[0].other = key.second;
  }
  return at->second;
}

bool Faults::healed() const {
  return shared_.queue.now() >= until_;
}

bool Faults::awake(PeerId peer) const {
  return shared_.queue.now() >= processes_[peer].paused_until;
}

/// A fault that may befall a frame.
bool Faults::strikes(Fault fault) {
  const double rate = rates_[static_cast<std::size_t>(fault)];
  if (healed() || rate == 0 || rng_.uniform() >= rate) return false;
  count(fault);
  return true;
}

void Faults::run_at(Time at, PeerId peer, std::function<void()> f) {
  shared_.queue.push(at, [this, peer, f = std::move(f)]() mutable {
    Process& process = processes_[peer];
    if (awake(peer) && process.waiting.empty()) return f();
    process.waiting.push_back(std::move(f));
    if (process.waiting.size() == 1) resume(peer);
  });
}

/// What came to a paused process happens when it goes on, in the order in which it came.
void Faults::resume(PeerId peer) {
  shared_.queue.push(processes_[peer].paused_until, [this, peer] {
    if (!awake(peer)) return resume(peer);
    std::vector<std::function<void()>> waiting;
    waiting.swap(processes_[peer].waiting);
    for (const auto& f : waiting) f();
  });
}

void Faults::send(PeerId from, PeerId to, Message message) {
  Edge& edge = edge_of(from, to);
  End& end = end_of(edge, from);
  transmit(edge, end, end.session.send(std::move(message)));
}

void Faults::transmit(Edge& edge, End& from, const Session::Numbered& numbered) {
  if (!edge.up) return;
  from.ack_told = from.session.received();
  transmit(
      edge, from, bytes_of(numbered.message, {.number = numbered.number, .ack = from.ack_told}));
}

void Faults::transmit(Edge& edge, End& from, Bytes frame) {
  if (!edge.up) return;
  if (strikes(Fault::corrupt))
    frame[rng_.below(frame.size())] ^= static_cast<std::byte>(1U << rng_.below(8));
  const int copies = strikes(Fault::duplicate) ? 2 : 1;
  const double bandwidth = shared_.network.bandwidth;
  const double seconds = bandwidth > 0 ? static_cast<double>(frame.size()) / bandwidth : 0;
  from.link_free = std::max(from.link_free, shared_.queue.now()) +
                   Time{static_cast<std::int64_t>(seconds * 1e9)};
  End& at = end_of(edge, from.other);
  for (int copy = 0; copy < copies; ++copy) {
    run_at(from.link_free + shared_.network.latency,
           at.self,
           [this, &edge, &at, outage = edge.outages, frame] { arrive(edge, at, outage, frame); });
  }
}

void Faults::arrive(Edge& edge, End& at, std::uint64_t outage, const Bytes& frame) {
  if (outage != edge.outages) return;
  wire::Header header;
  if (!parse(frame, pool_, header).empty()) {
    count(Probe::refused_frame);
    return break_link(edge);
  }
  take(edge, at, std::move(header));
}

void Faults::take(Edge& edge, End& at, wire::Header header) {
  const bool message = header.kind == wire::FrameKind::message;
  const std::uint64_t ack = message ? header.numbers.ack : header.heartbeat.ack;
  if (!at.session.acknowledge(ack))
    violations_.push_back(fmt::format("peer {}: acknowledged before it was sent", at.self));
  if (!message) return;
  switch (at.session.arrive(header.numbers.number)) {
    case Session::Arrival::again:
      return count(Probe::dropped_repetition);
    case Session::Arrival::gap:
      violations_.push_back(fmt::format("peer {}: a message is missing", at.self));
      return;
    case Session::Arrival::next:
      break;
  }
  if (at.session.received() - at.ack_told >= most_unacknowledged) {
    at.ack_told = at.session.received();
    transmit(edge, at, wire::encode(wire::Heartbeat{at.ack_told, 0}));
  }
  const Step step = header.message.step;
  const PeerId from = header.message.from;
  if (!shared_.peers[at.self]->deliver(std::move(header.message)))
    violations_.push_back(
        fmt::format("peer {} did not expect round {} of peer {}", at.self, step, from));
}

void Faults::break_link(Edge& edge) {
  if (!edge.up) return;
  edge.up = false;
  const std::uint64_t outage = ++edge.outages;
  for (End& end : edge.ends) {
    run_at(shared_.queue.now() + reconnect_within, end.self, [this, &edge, &end, outage] {
      if (!edge.up && edge.outages == outage) set_away(edge, end);
    });
  }
  shared_.queue.push(shared_.queue.now() + random_time(first_redial, slowest_redial),
                     [this, &edge, outage] { reconnect(edge, outage); });
}

void Faults::set_away(Edge&, End& end) {
  if (std::exchange(end.away, true)) return;
  count(Probe::away);
  shared_.peers[end.self]->away(end.other);
}

void Faults::reconnect(Edge& edge, std::uint64_t outage) {
  if (edge.up || edge.outages != outage) return;
  auto& [a, b] = edge.ends;
  const bool blocked = edge.cut_off && !healed();
  if (blocked || !awake(a.self) || !awake(b.self)) {
    shared_.queue.push(shared_.queue.now() + random_time(first_redial, slowest_redial),
                       [this, &edge, outage] { reconnect(edge, outage); });
    return;
  }
  edge.up = true;
  edge.cut_off = false;
  // Both Hellos: what each has received.
  const std::array received{b.session.received(), a.session.received()};
  for (std::size_t k = 0; k < edge.ends.size(); ++k) {
    End& end = edge.ends[k];
    end.session.acknowledge(received[k]);
    for (const Session::Numbered& numbered : end.session.unacknowledged()) {
      count(Probe::sent_again);
      transmit(edge, end, numbered);
    }
  }
  for (End& end : edge.ends) {
    if (!std::exchange(end.away, false)) continue;
    count(Probe::back);
    shared_.peers[end.self]->back(end.other);
  }
}

void Faults::plan_next(Fault fault) {
  const double rate = rates_[static_cast<std::size_t>(fault)];
  if (rate == 0) return;
  const double wait = -std::log(1 - rng_.uniform()) / rate;
  const Time at = shared_.queue.now() + Time{static_cast<std::int64_t>(wait * 1e9)};
  if (at >= until_) return;
  shared_.queue.push(at, [this, fault] {
    count(fault);
    strike(fault);
    plan_next(fault);
  });
}

void Faults::strike(Fault fault) {
  const auto victim = static_cast<PeerId>(rng_.below(processes_.size()));
  const Time now = shared_.queue.now();
  switch (fault) {
    case Fault::reset:
      break_link(random_edge());
      break;
    case Fault::cut_off: {
      Edge& edge = random_edge();
      edge.cut_off = true;
      break_link(edge);
      shared_.queue.push(now + random_time(milliseconds(1), milliseconds(80)),
                         [&edge] { edge.cut_off = false; });
      break;
    }
    case Fault::pause: {
      const Time length = random_time(microseconds(100), milliseconds(100));
      processes_[victim].paused_until = std::max(processes_[victim].paused_until, now + length);
      if (length < dead_after) break;
      shared_.queue.push(now + dead_after, [this, victim] {  // nothing is heard of it
        if (awake(victim)) return;
        for (auto& [ids, edge] : edges_) {
          if (ids.first == victim || ids.second == victim) break_link(edge);
        }
      });
      break;
    }
    case Fault::slow:
      processes_[victim].slowness = std::pow(100.0, rng_.uniform());
      break;
    case Fault::corrupt:
    case Fault::duplicate:
      break;  // they befall frames
  }
}

Faults::Edge& Faults::random_edge() {
  return std::next(edges_.begin(), static_cast<std::ptrdiff_t>(rng_.below(edges_.size())))->second;
}

Time Faults::random_time(Time least, Time most) {
  return least + Time{static_cast<std::int64_t>(
                     rng_.below(static_cast<std::uint64_t>((most - least).count()) + 1))};
}

}  // namespace gv
