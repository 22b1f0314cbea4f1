#include "peer/runtime/open_remedies.h"

#include <algorithm>

namespace gv {
namespace {

/// Returns whether smaller models would arrive clearly sooner: on some link, sending a model takes
/// more than a seventh of the latency, so a quarter of its bytes would save a tenth of the time. If
/// the file does not describe the network: whether a model takes more than a few packets.
bool bytes_count(const Assembly& fleet) {
  constexpr double few_packets = 16 * 1024;
  const NetworkSpec& network = fleet.fleet.network;
  const double bytes = static_cast<double>(fleet.dimension) * sizeof(float);
  const auto slow = [bytes](double bandwidth, Time latency) {
    return bandwidth > 0 && 7 * bytes / bandwidth > in_seconds(latency);
  };
  bool said = network.bandwidth > 0 || network.latency > Time{0};
  bool count = slow(network.bandwidth, network.latency);
  for (const auto& [ends, link] : network.links) {
    said = said || link.bandwidth > 0 || link.latency > Time{0};
    count = count || slow(link.bandwidth, link.latency);
  }
  for (const auto& [peer, bandwidth] : network.cards) {
    said = said || bandwidth > 0;
    count = count || slow(bandwidth, network.latency);
  }
  return said ? count : bytes > few_packets;
}

}  // namespace

Remedies remedies_of(const Assembly& fleet) {
  Setup slower = *fleet.setup;
  slower.local_steps *= 2;
  const std::vector<PeerSpec>& peers = fleet.fleet.peers;
  const auto alike = [&](const PeerSpec& peer) { return peer.batch == peers.front().batch; };
  return {
      .local_steps = fleet.fleet.own_steps.empty() &&
                     objection_to(*fleet.algorithm, slower, fleet.w ? &*fleet.w : nullptr).empty(),
      .codec = !fleet.fleet.codec && fleet.algorithm->codecs != Codecs::none && bytes_count(fleet),
      .unequal_work =
          !fleet.division && fleet.fleet.own_steps.empty() && std::ranges::all_of(peers, alike),
      .other_stages = fleet.fleet.stages() > 1};
}

}  // namespace gv
