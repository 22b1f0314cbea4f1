#include "peer/sim/world/sim_network.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <span>

#include <fmt/format.h>

#include "gossip/link/carrier.h"
#include "gossip/seam/message.h"

namespace gv {
namespace {

// Words for the trace of a simulated fleet.

const char* sends(Kind kind) {
  switch (kind) {
    case Kind::contribution:
      return "sends a half to";
    case Kind::goodbye:
      return "says goodbye to";
    case Kind::fetch:
      return "asks for the model of";
    case Kind::beyond:
      return "says beyond to";
    default:
      return "gives its model to";
  }
}

const char* hears(Kind kind) {
  switch (kind) {
    case Kind::contribution:
      return "hears the half of";
    case Kind::goodbye:
      return "hears the goodbye of";
    case Kind::fetch:
      return "hears the question of";
    case Kind::beyond:
      return "hears beyond of";
    default:
      return "hears the model of";
  }
}

const char* event_text(LinkEvent event) {
  switch (event) {
    case LinkEvent::lost:
      return "loses its link to";
    case LinkEvent::silent:
      return "hears nothing of";
    case LinkEvent::refused:
      return "refuses a frame of";
    case LinkEvent::away:
      return "is without";
    case LinkEvent::died:
      return "has outlived";
    case LinkEvent::back:
      return "has back";
    case LinkEvent::replaced:
      return "meets the successor of";
    case LinkEvent::sent_again:
      return "sends again to";
    case LinkEvent::repetition:
      return "hears again of";
  }
  return "";
}

using std::chrono::milliseconds;

}  // namespace

SimNetwork::SimNetwork(SimShared& shared,
                       FaultInjector& injector,
                       Processes& processes,
                       const LinkParts& parts)
    : shared_(shared),
      injector_(injector),
      processes_(processes),
      parts_(parts),
      sharing_(shared, processes, parts, injector.seed()) {
  for (PeerId id = 0; id < shared_.finished.size(); ++id)
    shapers_.emplace_back(shared.network, id, shared.seed);
  present_.resize(shared_.finished.size());
}

// ---- The processes.

void SimNetwork::born(Life life,
                      LinkSettings settings,
                      LinkUser& user,
                      std::function<void()> on_begin) {
  const std::uint64_t seed = shared_.seed * 1000 + life.number;
  for (const PeerId neighbor : settings.neighbors)
    if (life.number == 0) pair_of(life.peer, neighbor);
  if (parts_.settings) parts_.settings(settings);
  SimCarrier& carrier = carriers_.emplace_back(*this, life, user, std::move(settings), seed);
  present_[life.peer] = &carrier;
  on_begin_[&carrier] = std::move(on_begin);
  if (started_) carrier.links().start(carrier.now());
}

void SimNetwork::start() {
  started_ = true;
  for (SimCarrier& carrier : carriers_) carrier.links().start(carrier.now());
}

void SimNetwork::died(PeerId peer, bool silently) {
  SimCarrier& dead = process(peer);
  dead.left_ = true;
  sharing_.ended(dead.life);
  for (const auto& [id, link] : dead.connections_) {
    silently ? void(link->ends[link->index_of(dead)].open = false) : close(link, dead);
  }
  dead.connections_.clear();
}

void SimNetwork::send(PeerId from, PeerId to, Message message) {
  process(from).links().send(to, std::move(message), process(from).now());
}

void SimNetwork::end(PeerId peer) {
  process(peer).links().end(process(peer).now());
}

std::optional<std::uint64_t> SimNetwork::life_of_neighbor(PeerId self, PeerId neighbor) const {
  const std::uint64_t incarnation = present_[self]->links().incarnation(neighbor);
  if (incarnation == 0) return {};
  return incarnation - 1;
}

bool SimNetwork::listens(PeerId peer) const {
  return !processes_.dead(peer) && !present_[peer]->left();
}

void SimNetwork::run_at(Time at, SimCarrier& process, std::function<void()> f, bool idle) {
  const auto [peer, number] = process.life;
  const auto unless_left = [&process, f = std::move(f)] {
    if (!process.left()) f();
  };
  processes_.run_at(at, peer, number, unless_left, idle);
}

std::uint64_t SimNetwork::repeated_bytes(PeerId peer) const {
  return present_[peer] == nullptr ? 0 : present_[peer]->repeated_bytes();
}

void SimNetwork::note(LinkEvent event, const SimCarrier& process, PeerId neighbor) {
  const PeerId self = process.life.peer;
  injector_.note(now(), event_text(event), self, neighbor);
  switch (event) {
    case LinkEvent::lost:
    case LinkEvent::died:
      return;
    case LinkEvent::silent:
      return injector_.count(Probe::silence);
    case LinkEvent::refused:
      return injector_.count(Probe::refused_frame);
    case LinkEvent::away:
      if (shared_.finished[self]) injector_.count(Probe::lingers);
      return injector_.count(Probe::away);
    case LinkEvent::back:
      return injector_.count(Probe::back);
    case LinkEvent::replaced:
      if (const Peer* peer = shared_.peers[self]; peer != nullptr && peer->exchanging(neighbor))
        injector_.count(Probe::left_open);
      return injector_.count(Probe::replaced);
    case LinkEvent::sent_again:
      return injector_.count(Probe::sent_again);
    case LinkEvent::repetition:
      return injector_.count(Probe::dropped_repetition);
  }
}

// ---- Connections.

SimNetwork::Pair& SimNetwork::pair_of(PeerId a, PeerId b) {
  const auto [low, high] = std::minmax(a, b);
  return pairs_.try_emplace({low, high}, Pair{low, high}).first->second;
}

bool SimNetwork::blocked(PeerId a, PeerId b) {
  return now() < injector_.until() && now() < pair_of(a, b).blocked_until;
}

/// The first connections of a fleet take no time, and are made before any fault.
Time SimNetwork::arrival(PeerId from, PeerId to, std::size_t bytes) {
  return now() == Time{0} ? now() : shapers_[from].arrival(to, bytes, now());
}

void SimNetwork::connect(SimCarrier& from, PeerId to, ConnectionId id) {
  from.dialling_.insert(id);
  shared_.queue.push_idle(arrival(from.life.peer, to, 0),
                          [this, &from, to, id] { accept(from, to, id); });
}

/// The kernel of the other side accepts, even if its process is paused.
void SimNetwork::accept(SimCarrier& from, PeerId to, ConnectionId id) {
  const PeerId self = from.life.peer;
  if (blocked(self, to) || from.left()) return;  // no answer
  const Time answer = arrival(to, self, 0);
  if (!listens(to)) {
    return run_at(answer, from, [&from, to, id] {
      if (from.dialling_.erase(id) == 0) return;
      from.links().nobody_listens(to, "connection refused", from.now());
      from.links().ended(id, "connection refused", from.now());
    });
  }
  const auto link = std::make_shared<SimConnection>();
  link->ends[0].process = &from;
  link->ends[1].process = &process(to);
  for (End& end : link->ends)
    end.reader = parts_.reader ? parts_.reader(pool_) : std::make_unique<wire::FrameReader>(pool_);
  auto& connections = pair_of(self, to).connections;
  std::erase_if(connections, [](const auto& each) { return each.expired(); });
  connections.push_back(link);
  run_at(now(), process(to), [link, self] {
    End& end = link->ends[1];
    end.id = end.process->links().accepted(fmt::format("10.0.0.{}", self), 1, end.process->now());
    end.process->connections_[end.id] = link;
  });
  run_at(answer, from, [this, link, id] {
    End& end = link->ends[0];
    SimCarrier& dialler = *end.process;
    end.id = id;
    if (dialler.dialling_.erase(id) == 0) return close(link, dialler);  // no longer waiting
    if (!end.open) return dialler.links().ended(id, "reset", dialler.now());
    dialler.connections_[id] = link;
    dialler.links().connected(id, dialler.now());
  });
}

void SimNetwork::probe(SimCarrier& from, PeerId to) {
  const PeerId self = from.life.peer;
  shared_.queue.push_idle(arrival(self, to, 0), [this, &from, self, to] {
    if (blocked(self, to) || listens(to)) return;
    run_at(arrival(to, self, 0), from,
           [&from, to] { from.links().nobody_listens(to, "connection refused", from.now()); });
  });
}

std::shared_ptr<BufferMemory> SimNetwork::memory(Life life) {
  return sharing_.any() ? sharing_.of(life).memory() : nullptr;
}

void SimNetwork::admit(SimCarrier& process,
                       ConnectionId connection,
                       PeerId neighbor,
                       const Hello& theirs) {
  wire::FrameReader& reader = *process.connections_.at(connection)->end_of(process).reader;
  reader.set_bounds(shared_.bounds);
  sharing_.met(process.life, {neighbor, theirs.incarnation - 1});
  reader.set_borrow([this, self = process.life, neighbor, of = theirs.incarnation](
                        const Loan& loan, std::uint64_t most_bytes, Payload& payload) {
    Verdict wrong = sharing_.of(self).borrow(neighbor, of, loan, most_bytes, payload);
    if (wrong.empty()) sharing_.audit(self, {neighbor, of - 1}, loan);
    return wrong;
  });
}

SimNetwork::Bytes SimNetwork::bytes_of(const SimCarrier& from, PeerId to, const Frame& frame) {
  const auto* numbered = std::get_if<NumberedMessage>(&frame);
  const Payload payload = numbered == nullptr ? nullptr : numbered->message.payload;
  if (!payload) return wire::encode(frame);
  if (const std::optional<Loan> loan = sharing_.of(from.life).lend(to, *payload)) {
    injector_.count(Probe::lent);
    return wire::encode(*numbered, from.lie_ ? distort(*loan, *from.lie_, injector_) : *loan);
  }
  const std::span<const std::byte> body(payload->data(), payload->size());
  Bytes bytes = wire::encode(frame, wire::hash_payload(body));
  bytes.insert(bytes.end(), body.begin(), body.end());
  bytes.resize(bytes.size() + wire::fill_after(body.size()));
  return bytes;
}

void SimNetwork::transmit(const Link& link, const SimCarrier& from, const Frame& frame) {
  const std::size_t k = link->index_of(from);
  End& end = link->ends[k];
  if (!end.open) return;
  const auto* numbered = std::get_if<NumberedMessage>(&frame);
  if (numbered != nullptr)
    injector_.note(now(), sends(numbered->message.kind), from.life.peer,
                   link->ends[1 - k].process->life.peer, numbered->message.number);
  const PeerId to = link->ends[1 - k].process->life.peer;
  Bytes bytes = bytes_of(from, to, from.lie_ ? distort(frame, *from.lie_, injector_) : frame);
  if (injector_.strikes(Fault::corrupt, now()))
    bytes[injector_.below(bytes.size())] ^= static_cast<std::byte>(1U << injector_.below(8));
  const int copies = injector_.strikes(Fault::duplicate, now()) ? 2 : 1;
  for (int copy = 0; copy < copies; ++copy)
    end.stalled ? end.held.push_back(bytes) : launch(link, k, bytes, numbered == nullptr);
}

/// FIFO: later bytes arrive later. No bytes means the end of the stream.
void SimNetwork::launch(const Link& link, std::size_t from, const Bytes& bytes, bool idle) {
  SimCarrier& target = *link->ends[1 - from].process;
  const PeerId self = link->ends[from].process->life.peer;
  const PeerId other = target.life.peer;
  Time arrives = idle ? arrival(self, other, bytes.size())
                      : shapers_[self].arrival(other, bytes.size(), now());
  const auto deliver = [&](Bytes part) {
    run_at(
        arrives, target,
        [this, link, at = 1 - from, part = std::move(part)] { feed(link, at, part); }, idle);
  };
  if (bytes.empty() || !injector_.strikes(Fault::slice, now())) return deliver(bytes);
  for (std::size_t done = 0; done < bytes.size();) {
    const std::size_t length = std::min(bytes.size() - done, 1 + injector_.below(bytes.size()));
    const auto begin = bytes.begin() + static_cast<std::ptrdiff_t>(done);
    deliver(Bytes(begin, begin + static_cast<std::ptrdiff_t>(length)));
    done += length;
    arrives += injector_.time(Time{0}, milliseconds(2));
  }
  shapers_[self].hold(other, arrives);
}

void SimNetwork::feed(const Link& link, std::size_t at, const Bytes& bytes) {
  End& end = link->ends[at];
  if (!end.open && !end.reset) return;
  SimCarrier& process = *end.process;
  std::string wrong = bytes.empty() ? "it closed the connection" : "";
  if (wrong.empty()) process.links().hear_bytes(end.id, bytes.size(), process.now());
  for (std::size_t done = 0; done < bytes.size();) {
    const wire::FrameReader::Space space = end.reader->space();
    const std::size_t count = std::min(space.first.size(), bytes.size() - done);
    std::memcpy(space.first.data(), bytes.data() + done, count);
    end.reader->filled(count);
    done += count;
    for (std::optional<Frame> frame;;) {
      wrong = end.reader->next(frame);
      if (!wrong.empty() || !frame) break;
      take(end, std::move(*frame));
      if (!end.open && !end.reset) return;
    }
    if (!wrong.empty()) {
      if (end.open) note(LinkEvent::refused, process, link->ends[1 - at].process->life.peer);
      break;
    }
  }
  if (wrong.empty() || !end.open) return;
  // A process that has closed its end takes nothing more, so bytes on the way cost no time.
  if (bytes.empty())
    shapers_[process.life.peer].forget(link->ends[1 - at].process->life.peer, now());
  process.connections_.erase(end.id);
  close(link, process);
  process.links().no_frame(end.id);
  process.links().ended(end.id, wrong, process.now());
}

void SimNetwork::take(End& at, Frame frame) {
  SimCarrier& process = *at.process;
  if (const auto* numbered = std::get_if<NumberedMessage>(&frame)) {
    const Message& message = numbered->message;
    injector_.note(now(), hears(message.kind), process.life.peer, message.from, message.number);
    if (message.kind == Kind::model_copy && message.part == 0 && message.payload)
      injector_.count(Probe::fetched);
  }
  process.links().arrived(at.id, std::move(frame), process.now());
}

void SimNetwork::close(const Link& link, const SimCarrier& from) {
  const std::size_t k = link->index_of(from);
  End& end = link->ends[k];
  if (!std::exchange(end.open, false)) return;
  end.stalled ? end.held.push_back({}) : launch(link, k, {}, true);
}

// ---- Queries.

std::uint64_t SimNetwork::unacknowledged_bytes(PeerId peer) const {
  std::map<const Buffer*, std::size_t> kept;
  for (const PeerId neighbor : links_of(shared_.peers[peer]->plan))
    for (const Session::Numbered& each :
         present_[peer]->links().link(neighbor).session().unacknowledged())
      if (each.message.payload) kept[each.message.payload.get()] = each.message.payload->size();
  std::uint64_t bytes = 0;
  for (const auto& [buffer, size] : kept) bytes += size;
  return bytes;
}

bool SimNetwork::given_up(PeerId self, PeerId neighbor) const {
  return present_[self]->links().link(neighbor).given_up();
}

// Faults of the simulated network: broken connections, and a peer that lies.

SimNetwork::Pair& SimNetwork::random_pair() {
  return std::next(pairs_.begin(), static_cast<std::ptrdiff_t>(injector_.below(pairs_.size())))
      ->second;
}

bool SimNetwork::reset(Pair& pair) {
  bool any = false;
  for (const std::weak_ptr<SimConnection>& each : std::exchange(pair.connections, {})) {
    const Link link = each.lock();
    if (!link || !link->ends[0].open || !link->ends[1].open) continue;
    any = true;
    injector_.note(now(), "is reset from", pair.a, pair.b);
    for (End& end : link->ends) {
      end.open = false;
      end.reset = true;
      end.held.clear();
      run_at(now(), *end.process, [&end, link] {
        if (end.process->connections_.erase(end.id) > 0)
          end.process->links().ended(end.id, "reset", end.process->now());
      });
    }
  }
  return any;
}

bool SimNetwork::cut_off(Pair& pair, Time length) {
  pair.blocked_until = std::max(pair.blocked_until, now() + length);
  return reset(pair);
}

bool SimNetwork::partition(Time length) {
  std::vector<bool> side(present_.size());
  for (std::size_t i = 0; i < side.size(); ++i) side[i] = injector_.below(2) == 1;
  bool any = false;
  for (auto& [ids, pair] : pairs_)
    if (side[pair.a] != side[pair.b]) any = cut_off(pair, length) || any;
  return any;
}

bool SimNetwork::stall(Pair& pair, int ways, Time length) {
  const std::size_t first = injector_.below(2);
  bool any = false;
  for (const std::weak_ptr<SimConnection>& each : pair.connections) {
    const Link link = each.lock();
    if (!link || !link->ends[0].open || !link->ends[1].open) continue;
    any = true;
    for (int way = 0; way < ways; ++way)
      stall(link, (first + static_cast<std::size_t>(way)) % 2, length);
  }
  return any;
}

void SimNetwork::stall(const Link& link, std::size_t from, Time length) {
  link->ends[from].stalled = true;
  shared_.queue.push(now() + length, [this, link, from] { end_stall(link, from); });
}

void SimNetwork::silence(PeerId from, PeerId to, Time length) {
  Pair& pair = pair_of(from, to);
  pair.blocked_until = std::max(pair.blocked_until, now() + length);
  for (const std::weak_ptr<SimConnection>& each : pair.connections)
    if (const Link link = each.lock()) stall(link, link->index_of(process(from)), length);
}

void SimNetwork::end_stall(const Link& link, std::size_t from) {
  link->ends[from].stalled = false;
  for (const Bytes& bytes : std::exchange(link->ends[from].held, {}))
    launch(link, from, bytes, false);
}

void SimNetwork::lie(PeerId peer, Lie lie) {
  SimCarrier& liar = process(peer);
  liar.lie_ = lie;
  injector_.note(now(), "begins to lie to", peer, peer, static_cast<std::uint64_t>(lie));
  if (lie != Lie::questions) return;
  constexpr int questions = 100;
  for (const PeerId neighbor : links_of(shared_.peers[peer]->plan)) {
    for (int k = 0; k < questions; ++k) {
      Message question;
      question.from = peer;
      question.kind = Kind::fetch;
      liar.links().send(neighbor, std::move(question), liar.now());
    }
  }
}

void SimNetwork::cut(PeerId a, PeerId b, Time length) {
  for (const auto& [self, other] : {std::pair{a, b}, std::pair{b, a}}) {
    if (!listens(self)) continue;
    SimCarrier& carrier = process(self);
    const Time end = carrier.now() + length;
    carrier.links().cut(other, end, carrier.now());
    // The event has no effect: it keeps the simulation going until then, because an idle fleet may
    // wait for this link.
    shared_.queue.push(processes_.when(self, end), [] {});
  }
}

}  // namespace gv
