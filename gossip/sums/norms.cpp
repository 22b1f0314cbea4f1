#include "gossip/sums/norms.h"

#include <algorithm>
#include <cmath>

#include "gossip/sums/links.h"
#include "optim/host/dot.h"

namespace gv {
namespace {

constexpr double remembered = 20, least_seen = 6;  ///< contributions
/// Multiples of the median: a contribution up to `counts_whole` counts whole; a peer with more than
/// half beyond `suspicious` counts as a liar; no honest peer goes beyond `far`.
constexpr double counts_whole = 2, suspicious = 3, far = 1000;
constexpr float share_of_liars = 0.1F;

constexpr const char* seen = "norms: seen";
constexpr const char* square = "norms: square";
constexpr const char* too_long = "norms: too long";  ///< share of contributions that were

void forget_slowly(double& mean, double value, double count) {
  mean += (value - mean) / std::min(count, remembered);
}

double length_of(const Payload& came, const Payload& from) {
  return std::sqrt(from ? square_distance(came->floats(), from->floats())
                        : dot(came->floats(), came->floats()));
}

/// Returns from + part (came - from). Null if the distance is not a number and nothing counts, so
/// that the sender is left out of the mean.
Payload part_of(Peer& me, const Payload& came, const Payload& from, float part) {
  if (part == 1) return came;
  if (part == 0 && !from) return nullptr;
  const auto shorter = me.pool().acquire(came->size());
  for (std::size_t k = 0; k < came->floats().size(); ++k) {
    const float base = from ? from->floats()[k] : 0;
    shorter->floats()[k] = part > 0 ? base + part * (came->floats()[k] - base) : base;
  }
  return shorter;
}

using Block = std::vector<float>;

PeerId rank_of(const Group& group, PeerId peer) {
  return static_cast<PeerId>(std::ranges::find(group, peer) - group.begin());
}

Payload payload_of(Peer& me, const Block& block) {
  const auto payload = me.pool().acquire(block.size() * sizeof(float));
  std::ranges::copy(block, payload->floats().begin());
  return payload;
}

Task<Numbers> hear(Peer& me, PeerId from, Kind kind, std::size_t count) {
  const std::optional<Message> message = co_await me.receive_next(from, kind);
  if (!message || !message->payload || message->payload->size() != count * sizeof(float))
    co_return std::nullopt;
  const std::span<const float> floats = message->payload->floats();
  co_return Block(floats.begin(), floats.end());
}

/// blocks[r] is the block of rank r, with its size preset; ours is filled in.
Task<bool> blocks_go_round(Peer& me, const Group& group, std::vector<Block>& blocks) {
  const auto n = static_cast<PeerId>(group.size());
  const PeerId rank = rank_of(group, me.plan.id);
  for (PeerId hop = 0; hop + 1 < n; ++hop) {
    me.send_next(group[ring_next(rank, n)], Kind::gather,
                 payload_of(me, blocks[(rank + n - hop) % n]));
    Block& next = blocks[(rank + 2 * n - hop - 1) % n];
    const Numbers heard =
        co_await hear(me, group[ring_previous(rank, n)], Kind::gather, next.size());
    if (!heard) co_return false;
    next = *heard;
  }
  co_return true;
}

/// Returns the numbers of all members at the first member; at the others, their own.
Task<Numbers> tell_first(Peer& me, const Group& group, float own) {
  Block all(1, own);
  if (group.front() != me.plan.id) me.send_next(group.front(), Kind::reduce, payload_of(me, all));
  for (std::size_t j = 1; j < group.size() && group.front() == me.plan.id; ++j) {
    const Numbers heard = co_await hear(me, group[j], Kind::reduce, 1);
    if (!heard) co_return std::nullopt;
    all.push_back(heard->front());
  }
  co_return all;
}

/// Returns the `count` numbers of the first member.
Task<Numbers> hear_first(Peer& me, const Group& group, Block all, std::size_t count) {
  if (group.front() != me.plan.id) co_return co_await hear(me, group.front(), Kind::gather, count);
  const Payload told = payload_of(me, all);
  for (std::size_t j = 1; j < group.size(); ++j) me.send_next(group[j], Kind::gather, told);
  co_return all;
}

Task<Numbers> norms_along_ring(Peer& me, const Group& group, float own) {
  std::vector<Block> blocks(group.size(), Block(1));
  blocks[rank_of(group, me.plan.id)][0] = own;
  const bool whole = co_await blocks_go_round(me, group, blocks);
  if (!whole) co_return std::nullopt;
  Block all;
  for (const Block& block : blocks) all.push_back(block[0]);
  co_return all;
}

Task<Numbers> norms_through_driver(Peer& me, const Group& group, float own) {
  const Numbers all = co_await tell_first(me, group, own);
  if (!all) co_return std::nullopt;
  co_return co_await hear_first(me, group, *all, group.size());
}

/// Each hop doubles the block of ranks whose numbers are known.
Task<Numbers> norms_by_doubling(Peer& me, const Group& group, float own) {
  const PeerId rank = rank_of(group, me.plan.id);
  Block known(1, own);
  for (PeerId bit = 1; bit < group.size(); bit *= 2) {
    me.send_next(group[rank ^ bit], Kind::reduce, payload_of(me, known));
    const Numbers heard = co_await hear(me, group[rank ^ bit], Kind::reduce, known.size());
    if (!heard) co_return std::nullopt;
    known.insert((rank & bit) != 0 ? known.begin() : known.end(), heard->begin(), heard->end());
  }
  co_return known;
}

}  // namespace

void Norms::learn(PeerId of, double norm) {
  if (!std::isfinite(norm)) return;
  forget_slowly(kept(square, of), norm * norm, ++kept(seen, of));
}

double Norms::bound() const {
  if (*me_.plan.setup->clip > 0) return *me_.plan.setup->clip;
  std::vector<double> lengths;
  for (PeerId j = 0; j < me_.plan.setup->peers; ++j)
    if (kept(seen, j) > 0) lengths.push_back(std::sqrt(kept(square, j)));
  if (2 * lengths.size() <= me_.plan.setup->peers) return 0;
  std::ranges::sort(lengths);
  return counts_whole * lengths[(lengths.size() - 1) / 2];
}

void Norms::forget() {
  for (PeerId j = 0; j < me_.plan.setup->peers; ++j)
    kept(seen, j) = kept(square, j) = kept(too_long, j) = 0;
}

bool Norms::suspects(PeerId of) const {
  return kept(seen, of) >= least_seen && 2 * kept(too_long, of) > 1;
}

float Norms::part(PeerId of, double norm) {
  const double bound = this->bound();
  if (!std::isfinite(norm)) return 0;
  const double long_one = counts_whole * norm > suspicious * bound ? 1 : 0;
  if (bound > 0) forget_slowly(kept(too_long, of), long_one, kept(seen, of));
  if (kept(seen, of) >= least_seen && counts_whole * norm > far * bound) return 0;
  const double counts = suspects(of) ? share_of_liars * bound : bound;
  return norm <= counts ? 1.0F : static_cast<float>(counts / norm);
}

void Norms::tell(PeerId of, double norm, float part) {
  const double median = bound() / counts_whole;
  if (part == 1) return;
  ClippedFlows& cut = me_.cut[of];
  cut.of = of;
  ++cut.exchanges;
  if (median > 0 && std::isfinite(norm))
    cut.steps += norm * static_cast<double>(part) / median / me_.plan.setup->peers;
  if (*me_.plan.setup->clip > 0) return;           // a given length does not show that a peer lies
  if (median == 0 && std::isfinite(norm)) return;  // too few norms are known
  const bool known = kept(seen, of) >= least_seen;
  const bool is_far = !std::isfinite(norm) || (known && norm > far * median) || suspects(of);
  if (!is_far) return;
  const double times = std::isfinite(norm) ? norm / median : unbounded;
  if (is_milestone(++cut.far))
    me_.journal.note(event::ContributionCut{me_.round, of, times, cut.far});
}

Task<double> norm_of(Peer& me, Vector v) {
  double norm = 0;
  co_await me.compute(2.0 * static_cast<double>(me.replica.size()), [&] {
    norm = me.replica.norm(v, {0, me.replica.size()});
  });
  co_return norm;
}

Task<double> shorten(Peer& me, Vector v, std::vector<float> norms) {
  Norms known(me);
  const auto n = static_cast<PeerId>(norms.size());
  for (PeerId j = 0; j < n; ++j) known.learn(j, static_cast<double>(norms[j]));
  float own = 1;
  for (PeerId j = 0; j < n; ++j) {
    const auto norm = static_cast<double>(norms[j]);
    const float part = known.part(j, norm);
    if ((j + 1) % n == me.plan.id) known.tell(j, norm, part);
    if (j == me.plan.id) own = part;
  }
  if (own != 1) co_await me.scale(v, own);
  co_return known.bound();
}

Task<> shorten(Peer& me, std::map<PeerId, Payload>& came, Payload from) {
  if (!clips_sums(me)) co_return;
  Norms known(me);
  std::map<PeerId, double> norms;
  const double flops = 4.0 * static_cast<double>(me.replica.size() * came.size());
  co_await me.compute(flops, [&] {
    for (const auto& [of, vector] : came)
      if (vector) norms[of] = length_of(vector, from);
    for (const auto& [of, norm] : norms) known.learn(of, norm);
    for (const auto& [of, norm] : norms) {
      const float part = known.part(of, norm);
      known.tell(of, norm, part);
      came[of] = part_of(me, came[of], from, part);
    }
  });
}

Task<Payload> shortened(Peer& me, PeerId of, Payload came, Payload from) {
  std::map<PeerId, Payload> alone{{of, std::move(came)}};
  co_await shorten(me, alone, std::move(from));
  co_return alone[of];
}

Task<Numbers> tell_all(Peer& me, Group group, Way way, float own) {
  Numbers all;
  if (way == Way::ring) {
    all = co_await norms_along_ring(me, group, own);
  } else if (way == Way::driver) {
    all = co_await norms_through_driver(me, group, own);
  } else {
    all = co_await norms_by_doubling(me, group, own);
  }
  co_return all;
}

Task<Numbers> tell_hosts(Peer& me, float own) {
  const Setup& setup = *me.plan.setup;
  const Group here = host_group(setup, me.plan.id);
  const Group firsts = first_of_hosts(setup);
  const Numbers mine = co_await tell_first(me, here, own);
  if (!mine) co_return std::nullopt;
  std::vector<Block> blocks;
  for (const PeerId first : firsts) blocks.emplace_back(host_group(setup, first).size());
  Block all(setup.peers);
  if (here.front() == me.plan.id) {
    blocks[rank_of(firsts, me.plan.id)] = *mine;
    const bool whole = co_await blocks_go_round(me, firsts, blocks);
    if (!whole) co_return std::nullopt;
    for (std::size_t h = 0; h < firsts.size(); ++h) {
      const Group members = host_group(setup, firsts[h]);
      for (std::size_t j = 0; j < members.size(); ++j) all[members[j]] = blocks[h][j];
    }
  }
  co_return co_await hear_first(me, here, all, setup.peers);
}

}  // namespace gv
