#include "peer/runtime/link_bounds.h"

#include <algorithm>

#include "gossip/algorithm.h"
#include "gossip/verbs/transfers.h"
#include "gossip/verbs/verbs.h"
#include "optim/check.h"

namespace gv {
namespace {

std::uint32_t bit(Kind kind) {
  GV_CHECK(static_cast<unsigned>(kind) < 32, "FrameBounds::kinds has 32 bits");
  return 1U << static_cast<unsigned>(kind);
}

/// Number of models that may be sent to an honest neighbour before it acknowledges the first. Two
/// if each exchange waits for the other half, and a neighbour that has lost its model gets one in
/// the meantime. With one-way links, collective operations or channels of the method's own, a peer
/// may be ahead by as many rounds as there are peers.
std::uint64_t most_models(const Plan& plan) {
  const bool directed = plan.schedule && plan.schedule->directed();
  const bool two_way = plan.neighborhood.peers == plan.neighborhood.receivers && !directed;
  return two_way && plan.links.empty() && plan.channels.empty() ? 2 : plan.peers + 1;
}

/// Sums the bytes that may wait at the other end before they are requested there.
std::uint64_t most_waiting_bytes(const std::vector<Channel>& channels) {
  std::uint64_t bytes = 0;
  for (const Channel& channel : channels) bytes += channel.most_bytes * channel.most_waiting;
  return bytes;
}

}  // namespace

LinkSettings link_settings(const Plan& plan, std::size_t parameters, std::uint64_t small_messages) {
  LinkSettings settings;
  settings.self.peer = plan.id;
  settings.self.peers = plan.peers;
  settings.neighbors = links_of(plan);
  settings.successors = plan.successors;
  settings.rounds = plan.rounds;
  settings.slack = plan.peers;
  const std::size_t model = parameters * sizeof(float);
  constexpr std::size_t pieces = Verbs::most_waiting + 2 * Transfers::window;
  const std::size_t verbs = plan.verbs ? pieces * (verb_word_bytes + verb_piece_bytes) : 0;
  settings.most_unacknowledged_bytes =
      most_models(plan) * std::max(model, exchange_bytes(plan.traffic, parameters)) +
      small_messages + most_waiting_bytes(plan.channels) + verbs;
  return settings;
}

LinkTimes link_times(const FaultSpec& faults) {
  LinkTimes times;
  times.heartbeat = faults.heartbeat;
  times.dead_after = faults.dead_after;
  times.handshake = std::min(times.handshake, faults.dead_after);
  // A broken connection counts as away no later than a silent one.
  times.reconnect_within = std::min(times.reconnect_within, faults.dead_after);
  return times;
}

wire::FrameBounds frame_bounds(const Assembly& fleet) {
  const AlgorithmRow& method = *fleet.algorithm;
  wire::FrameBounds bounds{
      .messages = true, .kinds = bit(Kind::goodbye) | bit(Kind::held_up), .payload_bytes = 0};
  if (method.mixes) {
    bounds.kinds |=
        bit(Kind::contribution) | bit(Kind::beyond) | bit(Kind::fetch) | bit(Kind::model_copy);
    bounds.payload_bytes = std::max(std::min(fleet.dimension, piece_floats) * sizeof(float),
                                    most_payload_bytes(fleet.traffic(), fleet.dimension));
  }
  if (fleet.has_verbs()) {
    bounds.kinds |= bit(Kind::verb);
    bounds.payload_bytes = std::max(bounds.payload_bytes, verb_word_bytes + verb_piece_bytes);
  }
  // All peers have the same channels, except the stages of chains.
  for (PeerId i = 0; i < (fleet.division ? fleet.fleet.size() : 1); ++i)
    for (const Channel& channel : fleet.channels(i)) {
      bounds.kinds |= bit(channel.kind);
      bounds.payload_bytes = std::max(bounds.payload_bytes, channel.most_bytes);
    }
  return bounds;
}

}  // namespace gv
