#include "peer/runtime/link_bounds.h"

#include <algorithm>
#include <initializer_list>
#include <iterator>

namespace gv {
namespace {

std::uint32_t bits(std::initializer_list<Kind> kinds) {
  std::uint32_t all = 0;
  for (const Kind kind : kinds) all |= 1U << static_cast<unsigned>(kind);
  return all;
}

/// Models that an honest neighbour may be sent before it has acknowledged the first: two where each
/// exchange waits for the other half, and a neighbour that has lost its model gets one in the
/// meantime. Along one-way links a peer may be ahead by as many rounds as there are peers.
std::uint64_t most_models(const Plan& plan) {
  const bool directed = plan.schedule && plan.schedule->directed();
  const bool two_way = plan.neighborhood.peers == plan.neighborhood.receivers && !directed;
  return two_way ? 2 : plan.peers + 1;
}

}  // namespace

LinkSettings link_settings(const Plan& plan, std::size_t parameters, std::uint64_t small_messages) {
  const Neighborhood& row = plan.neighborhood;
  LinkSettings settings;
  settings.self.peer = plan.id;
  settings.self.peers = plan.peers;
  std::ranges::set_union(row.peers, row.receivers, std::back_inserter(settings.neighbors));
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
  const std::size_t n = fleet.fleet.size();
  if (fleet.algorithm->links == Links::topology)
    return {.messages = true,
            .kinds = bits({Kind::contribution, Kind::goodbye, Kind::fetch, Kind::model_copy}),
            .payload_bytes = std::min(d, piece_floats) * sizeof(float)};
  return {.messages = true,
          .kinds = bits({Kind::reduce, Kind::gather, Kind::held_up, Kind::goodbye}),
          .payload_bytes = (d + n - 1) / n * sizeof(float)};
}

}  // namespace gv
