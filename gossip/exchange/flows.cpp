#include <utility>

#include "gossip/exchange/exchange.h"
#include "optim/rng.h"

namespace gv {
namespace {

double passes(const Piece& piece, double passes) {
  return passes * static_cast<double>(piece.range.count);
}

}  // namespace

ExchangeFlows::ExchangeFlows(PeerCore& self)
    : self_(self),
      plain_(self.plan.traffic.plain()),
      for_each_(self.plan.traffic.running || self.plan.traffic.streams[0].to_each) {
  const Traffic& traffic = self_.plan.traffic;
  for (const Stream& stream : traffic.streams) {
    Moved moved{.carries = stream.to_each ? Vector::x : vector(stream.carries),
                .moves = {},
                .returns = {},
                .sent = {}};
    for (const std::string_view name : stream.moves) moved.moves.push_back(vector(name));
    if (moved.moves.empty()) moved.moves.push_back(moved.carries);
    if (!stream.returns.empty()) moved.returns = vector(stream.returns);
    if (!stream.sent.empty()) moved.sent = vector(stream.sent);
    streams_.push_back(std::move(moved));
  }
  if (traffic.running) difference_ = vector("what was not told yet");
  for (const Neighbor& neighbor : self_.neighbors) memories_.push_back(memory_of(neighbor));
}

Vector ExchangeFlows::vector(std::string_view name) {
  if (name == "x") return Vector::x;
  if (name == "g") return Vector::g;
  return self_.replica.vector(name);
}

ExchangeFlows::Memory ExchangeFlows::memory_of(const Neighbor& neighbor) {
  Memory memory;
  for (const Stream& stream : self_.plan.traffic.streams) {
    const auto named = [&](const char* what) {
      return self_.replica.vector(std::string(stream.carries) + what, neighbor.peer);
    };
    if (!neighbor.two_way) continue;
    if (stream.to_each) memory.carried.push_back(named(""));
    if (!stream.theirs.empty())
      memory.theirs.push_back(self_.replica.vector(stream.theirs, neighbor.peer));
    if (self_.plan.traffic.running) memory.told.push_back(named(": told"));
    if (self_.plan.traffic.running) memory.heard.push_back(named(": heard"));
    if (!stream.returns.empty()) memory.flowed.push_back(named(": flowed"));
    if (stream.returns.empty()) memory.flowed.emplace_back();
  }
  const bool returns = std::ranges::any_of(
      self_.plan.traffic.streams, [](const Stream& stream) { return !stream.returns.empty(); });
  if (neighbor.two_way && returns)
    memory.suspended = &self_.replica.scalar("flows suspended", neighbor.peer);
  return memory;
}

std::optional<Codec> ExchangeFlows::codec(const Piece& piece, Round round) const {
  std::optional<Codec> codec = self_.plan.traffic.codec;
  if (!self_.plan.traffic.drawn_alike) return codec;
  Rng rng = Rng(self_.plan.setup->seed).derive("coordinates").derive(round);
  codec->draw = rng.derive(piece.range.begin).bits() | 1;  // 0 would mean: from the values
  return codec;
}

Task<Payload> ExchangeFlows::half(std::uint32_t part, Round round) {
  const Piece piece = this->piece(part);
  const Moved& stream = streams_[piece.stream];
  const std::optional<Codec> codec = this->codec(piece, round);
  if (!codec && !stream.sent) co_return co_await self_.snapshot(stream.carries, piece.range);
  const auto out = self_.pool().acquire(payload_bytes(self_.plan.traffic.codec, piece.range.count));
  const auto write = [&] {
    encode(codec, stream.carries, piece.range, *out);
    if (!stream.sent) return;
    codec ? static_cast<void>(self_.replica.decode(*codec, *stream.sent, piece.range, *out))
          : self_.replica.load(*stream.sent, piece.range, *out);
  };
  co_await self_.compute(passes(piece, 2), write, codec ? Activity::code : Activity::mix);
  co_return out;
}

Task<Payload> ExchangeFlows::half_for(std::size_t k, std::uint32_t part, Round round) {
  const Piece piece = this->piece(part);
  const auto out = self_.pool().acquire(payload_bytes(self_.plan.traffic.codec, piece.range.count));
  memories_[k].holds = true;
  const Memory& memory = memories_[k];
  const Traffic& traffic = self_.plan.traffic;
  const auto write = [&] {
    traffic.running ? increment(memory, piece, *out)
                    : encode(codec(piece, round), memory.carried[piece.stream], piece.range, *out);
  };
  co_await self_.compute(passes(piece, 5), write, traffic.codec ? Activity::code : Activity::mix);
  co_return out;
}

void ExchangeFlows::encode(const std::optional<Codec>& codec, Vector v, Range r, Buffer& out) {
  codec ? self_.replica.encode(*codec, v, r, out) : self_.replica.snapshot(v, r, out);
}

/// out <- Q(v - told); told += out.
void ExchangeFlows::increment(const Memory& memory, const Piece& piece, Buffer& out) {
  const auto& [stream, r] = piece;
  Replica& replica = self_.replica;
  const std::optional<Codec>& codec = self_.plan.traffic.codec;
  const Vector told = memory.told[stream];
  replica.axpby(1, streams_[stream].carries, 0, *difference_, r);
  replica.axpby(-1, told, 1, *difference_, r);
  encode(codec, *difference_, r, out);
  if (codec) static_cast<void>(replica.decode(*codec, *difference_, r, out));
  replica.axpby(1, *difference_, 1, told, r);
}

Task<ExchangeFlows::Applied> ExchangeFlows::apply(
    std::size_t k, std::uint32_t part, Share share, Payload theirs, Payload ours) {
  const Piece piece = this->piece(part);
  const Traffic& traffic = self_.plan.traffic;
  Memory& memory = memories_[k];
  if (share.once) {
    co_await forget(k);
  } else {
    memory.holds = true;
    if (suspended(k)) co_await resume(k);
  }
  Applied applied;
  if (!traffic.codec && !traffic.running) {
    co_await self_.compute(passes(piece, 4),
                           [&] { applied = move(memory, piece, share, *theirs, *ours); });
    co_return applied;
  }
  const auto a = self_.pool().acquire(piece.range.count * sizeof(float));
  const auto b = self_.pool().acquire(piece.range.count * sizeof(float));
  const auto flow = [&] {
    if (traffic.running) decode(traffic.codec, *theirs, *a);
    traffic.running ? unpack(memory, piece, *a, *b)
                    : decode_halves(traffic, *theirs, *ours, *a, *b);
    applied = move(memory, piece, share, *a, *b);
  };
  co_await self_.compute(passes(piece, 8), flow, traffic.codec ? Activity::code : Activity::mix);
  co_return applied;
}

/// theirs: an increment in, the sum of received increments out; ours <- the sum of sent increments.
void ExchangeFlows::unpack(const Memory& memory, const Piece& piece, Buffer& theirs, Buffer& ours) {
  const auto& [stream, r] = piece;
  self_.replica.add(memory.heard[stream], r, theirs);
  self_.replica.snapshot(memory.heard[stream], r, theirs);
  self_.replica.snapshot(memory.told[stream], r, ours);
}

ExchangeFlows::Applied ExchangeFlows::move(const Memory& memory,
                                           const Piece& piece,
                                           Share share,
                                           const Buffer& theirs,
                                           const Buffer& ours) {
  const auto& [stream, r] = piece;
  Replica& replica = self_.replica;
  if (!memory.theirs.empty()) replica.load(memory.theirs[stream], r, theirs);
  Applied applied{.factor = clip_factor(share.bound, theirs, ours)};
  const float w = share.weight * applied.factor;
  for (const Vector v : streams_[stream].moves)
    if (!share.once || v == streams_[stream].carries)
      applied.finite = replica.add_flow(v, r, w, theirs, ours);
  if (streams_[stream].returns && !share.once)
    replica.add_flow(memory.flowed[stream], r, w, theirs, ours);
  return applied;
}

Task<> ExchangeFlows::forget(std::size_t k) {
  Memory& memory = memories_[k];
  if (plain_ || !std::exchange(memory.holds, false)) co_return;
  co_await self_.compute(4.0 * static_cast<double>(self_.replica.size()), [&] { clear(memory); });
}

Task<> ExchangeFlows::restart_told(std::size_t k) {
  co_await self_.compute(static_cast<double>(self_.replica.size()), [&] {
    for (const Vector v : memories_[k].told) self_.replica.scale(v, 0);
  });
}

Task<> ExchangeFlows::restart_heard(std::size_t k) {
  co_await self_.compute(static_cast<double>(self_.replica.size()), [&] {
    for (const Vector v : memories_[k].heard) self_.replica.scale(v, 0);
  });
}

void ExchangeFlows::clear(Memory& memory) {
  Replica& replica = self_.replica;
  for (const Vector v : memory.told) replica.scale(v, 0);
  for (const Vector v : memory.heard) replica.scale(v, 0);
  if (memory.suspended == nullptr) return;
  if (std::exchange(*memory.suspended, 0) == 0) add_flowed(memory, -1);
  for (std::size_t s = 0; s < memory.flowed.size(); ++s)
    if (streams_[s].returns) replica.scale(memory.flowed[s], 0);
}

void ExchangeFlows::add_flowed(const Memory& memory, float factor) {
  const Range all{0, self_.replica.size()};
  for (std::size_t s = 0; s < memory.flowed.size(); ++s)
    if (streams_[s].returns)
      self_.replica.axpby(factor, memory.flowed[s], 1, *streams_[s].returns, all);
}

Task<> ExchangeFlows::suspend(std::size_t k) {
  const Memory& memory = memories_[k];
  *memory.suspended = 1;
  co_await self_.compute(2.0 * static_cast<double>(self_.replica.size()),
                         [&] { add_flowed(memory, -1); });
}

Task<> ExchangeFlows::resume(std::size_t k) {
  const Memory& memory = memories_[k];
  *memory.suspended = 0;
  co_await self_.compute(2.0 * static_cast<double>(self_.replica.size()),
                         [&] { add_flowed(memory, 1); });
}

}  // namespace gv
