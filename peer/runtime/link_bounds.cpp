#include "peer/runtime/link_bounds.h"

#include <algorithm>
#include <initializer_list>

namespace gv {
namespace {

std::uint32_t bits(std::initializer_list<Kind> kinds) {
  std::uint32_t all = 0;
  for (const Kind kind : kinds) all |= 1U << static_cast<unsigned>(kind);
  return all;
}

/// Models that an honest neighbour may be sent before it has acknowledged the first: two where each
/// exchange waits for the other half, and a neighbour that has lost its model gets one in the
/// meantime. Along one-way links, and in collective operations, a peer may be ahead by as many
/// rounds as there are peers.
std::uint64_t most_models(const Plan& plan) {
  const bool directed = plan.schedule && plan.schedule->directed();
  const bool two_way = plan.neighborhood.peers == plan.neighborhood.receivers && !directed;
  return two_way && plan.links.empty() ? 2 : plan.peers + 1;
}

}  // namespace

LinkSettings link_settings(const Plan& plan, std::size_t parameters, std::uint64_t small_messages) {
  LinkSettings settings;
  settings.self.peer = plan.id;
  settings.self.peers = plan.peers;
  settings.neighbors = links_of(plan);
  settings.successors = plan.catch_up;
  settings.steps = plan.steps;
  settings.most_unacknowledged_bytes =
      most_models(plan) * parameters * sizeof(float) + small_messages;
  return settings;
}

LinkTimes link_times(const FaultSpec& faults) {
  LinkTimes times;
  times.heartbeat = faults.heartbeat;
  times.dead_after = faults.dead_after;
  times.handshake = std::min(times.handshake, faults.dead_after);
  return times;
}

wire::FrameBounds frame_bounds(const Assembly& fleet) {
  const std::size_t d = fleet.dimension;
  const std::size_t piece = std::min(d, piece_floats);
  // A ring of two or more members sends at most half of a vector at once.
  const std::size_t chunk = std::max(piece, (d + 1) / 2);
  const bool mixes = fleet.algorithm->mixes;
  const bool collective = fleet.algorithm->links != nullptr;
  return {.messages = true,
          .kinds = (mixes ? bits({Kind::contribution, Kind::fetch, Kind::model_copy}) : 0) |
                   (collective ? bits({Kind::reduce, Kind::gather}) : 0) |
                   bits({Kind::goodbye, Kind::held_up}),
          .payload_bytes = (collective ? chunk : piece) * sizeof(float)};
}

}  // namespace gv
