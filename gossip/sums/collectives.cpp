#include "gossip/sums/collectives.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>
#include <utility>

#include "gossip/sums/links.h"
#include "gossip/sums/norms.h"
#include "optim/check.h"
#include "optim/host/dot.h"

namespace gv {
namespace {

// Their callers' frames hold the group as long as these run; it is copied once, on the way in.

PeerId rank_in(const Group& group, const Peer& me) {
  const auto at = std::ranges::find(group, me.plan.id);
  GV_CHECK(at != group.end(), "only members take part in a collective operation");
  return static_cast<PeerId>(at - group.begin());
}

using InCodec = std::optional<Codec>;

/// Returns v[r] as it travels. With a codec v[r] becomes what the others decode.
Task<Payload> freeze(Peer& me, Vector v, Range r, InCodec codec) {
  const Payload frozen = co_await me.encode(v, r, codec);
  if (!codec) co_return frozen;
  const auto read = [&] { static_cast<void>(me.replica.decode(*codec, v, r, *frozen)); };
  co_await me.compute(2.0 * static_cast<double>(r.count), read, Activity::code);
  co_return frozen;
}

/// Sends v[r] as it is now: a part of a sum, or a complete sum.
Task<> give(Peer& me, const Group& to, Kind kind, Vector v, Range r, InCodec codec) {
  const Payload frozen = co_await freeze(me, v, r, codec);
  for (const PeerId member : to) me.send_next(member, kind, frozen);
}
Task<> give(Peer& me, PeerId to, Kind kind, Vector v, Range r, InCodec codec) {
  Payload frozen = co_await freeze(me, v, r, codec);
  me.send_next(to, kind, std::move(frozen));
}

/// Shortens a received vector to the length `most`, which only a liar exceeds. Off the loop.
Payload shortened(Peer& me, Payload in, double most) {
  const double norm = std::sqrt(dot(in->floats(), in->floats()));
  // The sum is rounded, and a codec changes it further.
  if (norm <= 1.05 * most) return in;
  const auto shorter = me.pool().acquire(in->size());
  const double factor = std::isfinite(norm) ? most / norm : 0;
  for (std::size_t k = 0; k < in->floats().size(); ++k)
    shorter->floats()[k] =
        factor > 0 ? static_cast<float>(factor * static_cast<double>(in->floats()[k])) : 0;
  return shorter;
}

/// Kind::reduce: v[r] <- v[r] + the message; Kind::gather: v[r] <- the message. Returns the message
/// as it came; null if none will come any more.
Task<Payload> take(
    Peer& me, PeerId from, Kind kind, Vector v, Range r, InCodec codec, double most) {
  const std::optional<Message> message = co_await me.receive_next(from, kind);
  if (!message) co_return nullptr;
  Payload in = co_await me.decode(message->payload, r.count, codec);
  if (!in) co_return nullptr;
  co_await me.compute(static_cast<double>(r.count), [&] {
    if (most != unbounded) in = shortened(me, std::move(in), most);
    kind == Kind::reduce ? me.replica.add(v, r, *in) : me.replica.load(v, r, *in);
  });
  co_return message->payload;
}

Task<bool> reduce(Peer& me, const Group& group, Vector v, Range r, Sum sum) {
  if (group.front() != me.plan.id) {
    co_await give(me, group.front(), Kind::reduce, v, r, sum.codec);
    co_return true;
  }
  for (std::size_t j = 1; j < group.size(); ++j) {
    const Payload taken = co_await take(me, group[j], Kind::reduce, v, r, sum.codec, sum.most(1));
    if (!taken) co_return false;
  }
  co_return true;
}

Task<bool> broadcast(Peer& me, const Group& group, Vector v, Range r, Sum sum) {
  if (group.front() != me.plan.id) {
    const double most = sum.most(me.plan.peers);
    const Payload taken = co_await take(me, group.front(), Kind::gather, v, r, sum.codec, most);
    co_return taken != nullptr;
  }
  const Group others(group.begin() + 1, group.end());
  co_await give(me, others, Kind::gather, v, r, sum.codec);
  co_return true;
}

/// Returns the pieces of a part of v that `sender` sends at a hop, in order.
std::vector<Range> pieces_sent(Range part, Kind kind, PeerId sender, std::uint32_t hop, PeerId n) {
  const Range chunk = ring_chunk(part.count, n, ring_sent_chunk(kind, sender, hop, n));
  const std::size_t begin = part.begin + chunk.begin;
  std::vector<Range> pieces;
  for (std::size_t done = 0; done < chunk.count; done += piece_floats)
    pieces.push_back({begin + done, std::min(piece_floats, chunk.count - done)});
  return pieces;
}

/// One direction of the ring, n - 1 hops: at each hop one chunk is sent and one received, piece by
/// piece. A piece is forwarded when it has come, while the next ones are on their way, and stays in
/// the cache. A complete sum that came in a codec is forwarded as it came, so that all decode the
/// same bytes; floats are forwarded from v, which neighbours on this machine read in our memory.
Task<bool> go_round(Peer& me, const Group& group, Kind kind, Vector v, Sum sum) {
  constexpr std::size_t pieces_ahead = 4;  // as in an exchange of neighbours (exchange.cpp)
  const auto n = static_cast<PeerId>(group.size());
  const PeerId rank = rank_in(group, me);
  const PeerId previous = ring_previous(rank, n);
  const Range whole{0, me.replica.size()};
  const Range part = sum.part.value_or(whole);
  const std::vector<Range> first = pieces_sent(part, kind, rank, 0, n);
  std::vector<Range> in;
  std::vector<double> most;
  for (std::uint32_t hop = 0; hop + 1 < n; ++hop) {
    for (const Range r : pieces_sent(part, kind, previous, hop, n)) in.push_back(r);
    most.resize(in.size(), sum.most(kind == Kind::reduce ? hop + 1 : me.plan.peers));
  }
  // The chunk received at one hop is sent at the next.
  const std::size_t kept = pieces_sent(part, kind, previous, n - 2, n).size();
  const std::size_t out = first.size() + in.size() - kept;
  const bool as_it_came = kind == Kind::gather && sum.codec.has_value();
  std::vector<Payload> came(as_it_came ? in.size() : 0);
  std::size_t taken = 0;
  for (std::size_t s = 0; s < out + pieces_ahead || taken < in.size(); ++s) {
    const std::size_t needed = s < out && s >= first.size() ? s - first.size() + 1 : 0;
    const std::size_t due = std::max(needed, s >= pieces_ahead ? s - pieces_ahead + 1 : 0);
    for (; taken < std::min(due, in.size()); ++taken) {
      Payload piece =
          co_await take(me, group[previous], kind, v, in[taken], sum.codec, most[taken]);
      if (!piece) co_return false;
      if (as_it_came && taken + first.size() < out) came[taken] = std::move(piece);
    }
    if (s >= out) continue;
    const bool ours = s < first.size();
    Payload goes;
    if (ours || !as_it_came)
      goes = co_await freeze(me, v, ours ? first[s] : in[s - first.size()], sum.codec);
    else
      goes = std::move(came[s - first.size()]);
    me.send_next(group[ring_next(rank, n)], kind, std::move(goes));
  }
  co_return true;
}

Task<bool> along_ring(Peer& me, const Group& group, Vector v, Sum sum) {
  const bool done = co_await go_round(me, group, Kind::reduce, v, sum);
  if (!done) co_return false;
  co_return co_await go_round(me, group, Kind::gather, v, sum);
}

/// While a piece of the sum goes down, the next one's parts come up.
Task<bool> through_driver(Peer& me, const Group& group, Vector v, Sum sum) {
  const bool drives = rank_in(group, me) == 0;
  for (std::uint32_t part = 0; part < me.pieces(); ++part) {
    const bool summed = co_await reduce(me, group, v, me.piece(part), sum);
    if (!summed) co_return false;
    if (!drives) continue;
    const bool given = co_await broadcast(me, group, v, me.piece(part), sum);
    if (!given) co_return false;
  }
  for (std::uint32_t part = 0; part < me.pieces() && !drives; ++part) {
    const bool done = co_await broadcast(me, group, v, me.piece(part), sum);
    if (!done) co_return false;
  }
  co_return true;
}

/// a + b has the bits of b + a, so both of a pair hold the same sum after each hop.
Task<bool> by_doubling(Peer& me, const Group& group, Vector v, Sum sum) {
  GV_CHECK(std::has_single_bit(group.size()), "a power of two members");
  const PeerId rank = rank_in(group, me);
  for (PeerId bit = 1; bit < group.size(); bit *= 2) {
    const PeerId partner = group[rank ^ bit];
    for (std::uint32_t part = 0; part < me.pieces(); ++part)
      co_await give(me, partner, Kind::reduce, v, me.piece(part), sum.codec);
    for (std::uint32_t part = 0; part < me.pieces(); ++part) {
      const Payload taken =
          co_await take(me, partner, Kind::reduce, v, me.piece(part), sum.codec, sum.most(bit));
      if (!taken) co_return false;
    }
  }
  co_return true;
}

}  // namespace

Task<bool> all_reduce(Peer& me, Group group, Vector v, Way way, Sum sum) {
  if (group.size() == 1) co_return true;
  GV_CHECK(!sum.part || way == Way::ring, "parts are summed along a ring");
  bool whole = false;
  if (way == Way::ring) {
    whole = co_await along_ring(me, group, v, sum);
  } else if (way == Way::driver) {
    whole = co_await through_driver(me, group, v, sum);
  } else {
    whole = co_await by_doubling(me, group, v, sum);
  }
  co_return whole;
}

Task<bool> all_average(Peer& me, Group group, Vector v, Way way, std::optional<Codec> codec) {
  Sum sum{.codec = codec};
  if (clips_sums(me)) {
    const double own = co_await norm_of(me, v);
    const Numbers norms = co_await tell_all(me, group, way, static_cast<float>(own));
    if (!norms) co_return false;
    sum.bound = co_await shorten(me, v, *norms);
  }
  const bool done = co_await all_reduce(me, group, v, way, sum);
  if (!done) co_return false;
  co_await me.scale(v, 1.0F / static_cast<float>(group.size()));
  co_return true;
}

namespace {

/// Averages the bounded moves since the last mean.
Task<bool> average_x(Peer& me, const Group& group, Way way) {
  if (!clips_sums(me)) co_return co_await all_average(me, group, Vector::x, way);
  const Vector common = me.vector("common");
  co_await me.axpby(-1, common, 1, Vector::x);
  const bool done = co_await all_average(me, group, Vector::x, way);
  if (!done) co_return false;
  co_await me.axpby(1, common, 1, Vector::x);
  co_await me.copy(Vector::x, common);
  double& agreed = me.replica.scalar("common: agreed");
  if (agreed == 0) Norms(me).forget();  // whole models are longer than their moves
  agreed = 1;
  co_return true;
}

}  // namespace

Task<bool> average_models(Peer& me, Group group, Way way) {
  me.begins_to_sum();
  const bool done = co_await average_x(me, group, way);
  me.has_summed();
  co_return done;
}

Task<bool> reduce(Peer& me, Group group, Vector v, Sum sum) {
  for (std::uint32_t part = 0; part < me.pieces() && group.size() > 1; ++part) {
    const bool done = co_await reduce(me, group, v, me.piece(part), sum);
    if (!done) co_return false;
  }
  co_return true;
}

Task<bool> broadcast(Peer& me, Group group, Vector v, Sum sum) {
  // A group of one rounds v as the first member of any other group does.
  const bool changes = group.size() > 1 || sum.codec;
  for (std::uint32_t part = 0; part < me.pieces() && changes; ++part) {
    const bool done = co_await broadcast(me, group, v, me.piece(part), sum);
    if (!done) co_return false;
  }
  co_return true;
}

/// Goes by chunks, as in a ring's all-reduce, so that the same channels carry them.
Task<bool> all_gather(Peer& me, Group group, std::vector<Vector> of) {
  const auto n = static_cast<PeerId>(group.size());
  GV_CHECK_EQUAL(of.size(), group.size(), "a vector for each member");
  const PeerId rank = rank_in(group, me);
  for (PeerId hop = 0; hop + 1 < n; ++hop) {
    const Vector out = of[(rank + n - hop) % n];
    const Vector in = of[(rank + 2 * n - hop - 1) % n];
    for (PeerId chunk = 0; chunk < n; ++chunk) {
      const Range r = ring_chunk(me.replica.size(), n, chunk);
      if (r.count > 0)
        co_await give(me, group[ring_next(rank, n)], Kind::gather, out, r, std::nullopt);
    }
    for (PeerId chunk = 0; chunk < n; ++chunk) {
      const Range r = ring_chunk(me.replica.size(), n, chunk);
      if (r.count == 0) continue;
      const PeerId previous = group[ring_previous(rank, n)];
      const Payload taken =
          co_await take(me, previous, Kind::gather, in, r, std::nullopt, unbounded);
      if (!taken) co_return false;
    }
  }
  co_return true;
}

/// The first round trip shows that all earlier members are here, the second that all are.
Task<bool> barrier(Peer& me, Group group) {
  const auto n = static_cast<PeerId>(group.size());
  const PeerId rank = rank_in(group, me);
  for (int time = 0; time < 2 && n > 1; ++time) {
    if (rank == 0) me.send_next(group[1], Kind::gather, me.one_number(0));
    const std::optional<Message> word =
        co_await me.receive_next(group[ring_previous(rank, n)], Kind::gather);
    if (!word) co_return false;
    if (rank != 0) me.send_next(group[ring_next(rank, n)], Kind::gather, me.one_number(0));
  }
  co_return true;
}

Group everyone(const Peer& me) {
  if (me.plan.stage) return me.plan.stage->alike;
  Group all(me.plan.setup ? me.plan.setup->peers : me.plan.peers);
  std::iota(all.begin(), all.end(), PeerId{0});
  return all;
}

Task<> take_finite_elements(Peer& me, Payload mean, Payload own) {
  const Range whole{0, me.replica.size()};
  co_await me.load(Vector::x, whole, own);
  co_await me.compute(2.0 * static_cast<double>(whole.count),
                      [&] { me.replica.add_flow(Vector::x, whole, 1, *mean, *own); });
}

}  // namespace gv
