#include "gossip/norm_exchange.h"

#include <algorithm>

#include "gossip/links.h"
#include "gossip/ring.h"

namespace gv {
namespace {

using Block = std::vector<float>;

PeerId rank_in(const Group& group, PeerId peer) {
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

/// blocks[r]: that of rank r, of the size that it has; ours is filled in.
Task<bool> go_round(Peer& me, const Group& group, std::vector<Block>& blocks) {
  const auto n = static_cast<PeerId>(group.size());
  const PeerId rank = rank_in(group, me.plan.id);
  for (PeerId hop = 0; hop + 1 < n; ++hop) {
    me.send_next(
        group[ring_next(rank, n)], Kind::gather, payload_of(me, blocks[(rank + n - hop) % n]));
    Block& next = blocks[(rank + 2 * n - hop - 1) % n];
    const Numbers heard =
        co_await hear(me, group[ring_previous(rank, n)], Kind::gather, next.size());
    if (!heard) co_return false;
    next = *heard;
  }
  co_return true;
}

/// Returns at the first member those of all; at the others, their own.
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

/// Returns what the first member has, `count` numbers.
Task<Numbers> hear_first(Peer& me, const Group& group, Block all, std::size_t count) {
  if (group.front() != me.plan.id) co_return co_await hear(me, group.front(), Kind::gather, count);
  const Payload told = payload_of(me, all);
  for (std::size_t j = 1; j < group.size(); ++j) me.send_next(group[j], Kind::gather, told);
  co_return all;
}

Task<Numbers> along_ring(Peer& me, const Group& group, float own) {
  std::vector<Block> blocks(group.size(), Block(1));
  blocks[rank_in(group, me.plan.id)][0] = own;
  const bool whole = co_await go_round(me, group, blocks);
  if (!whole) co_return std::nullopt;
  Block all;
  for (const Block& block : blocks) all.push_back(block[0]);
  co_return all;
}

Task<Numbers> through_driver(Peer& me, const Group& group, float own) {
  const Numbers all = co_await tell_first(me, group, own);
  if (!all) co_return std::nullopt;
  co_return co_await hear_first(me, group, *all, group.size());
}

/// All of a block of ranks are known after each hop.
Task<Numbers> by_doubling(Peer& me, const Group& group, float own) {
  const PeerId rank = rank_in(group, me.plan.id);
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

Task<Numbers> tell_all(Peer& me, Group group, Way way, float own) {
  Numbers all;
  if (way == Way::ring) {
    all = co_await along_ring(me, group, own);
  } else if (way == Way::driver) {
    all = co_await through_driver(me, group, own);
  } else {
    all = co_await by_doubling(me, group, own);
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
    blocks[rank_in(firsts, me.plan.id)] = *mine;
    const bool whole = co_await go_round(me, firsts, blocks);
    if (!whole) co_return std::nullopt;
    for (std::size_t h = 0; h < firsts.size(); ++h) {
      const Group members = host_group(setup, firsts[h]);
      for (std::size_t j = 0; j < members.size(); ++j) all[members[j]] = blocks[h][j];
    }
  }
  co_return co_await hear_first(me, here, all, setup.peers);
}

}  // namespace gv
