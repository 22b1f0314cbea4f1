#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <string_view>
#include <utility>

#include "gossip/world.h"

namespace gv {

/// One direction between two peers.
struct LinkSpec {
  Time latency{0};       ///< one way
  Time jitter{0};        ///< the latency of each frame is uniform in latency -+ jitter; <= latency
  double bandwidth = 0;  ///< bytes per second of this link alone; 0: no limit of its own
  bool inside = false;   ///< within one machine: not through the peers' network cards
};

/// The places where the bandwidth of a network lies.
enum class NetworkShape : std::uint8_t {
  per_link,  ///< each direction of each link has it to itself
  per_nic,   ///< each peer has it for all that it sends, as through one network card
};

/// The ways that payloads go between processes of one machine.
enum class LocalTransport : std::uint8_t {
  shared,  ///< the neighbour reads them where they lie, in memory that both have mapped
  tcp,     ///< they are sent, as to other machines
};

/// Spells it as fleet files do; printed beside every predicted time, which depends on it.
constexpr std::string_view name_of(NetworkShape shape) {
  return shape == NetworkShape::per_nic ? "per-nic" : "per-link";
}

/// The network that the simulator has, and that a real run imitates where `emulate` says so.
struct NetworkSpec {
  Time latency{0};
  Time jitter{0};
  double bandwidth = 0;  ///< bytes per second of a link or of a peer, as `shape` says; 0: unlimited
  NetworkShape shape = NetworkShape::per_nic;
  bool emulate = false;                                      ///< in a real run, by the transport
  LocalTransport local = LocalTransport::shared;             ///< emulation sends everything
  std::map<std::pair<PeerId, PeerId>, LinkSpec> links = {};  ///< that differ; (lower id, higher id)

  /// Returns the link between two peers, either way.
  LinkSpec link(PeerId a, PeerId b) const {
    const auto own = links.find(std::minmax(a, b));
    if (own != links.end()) return own->second;
    return {latency, jitter, shape == NetworkShape::per_link ? bandwidth : 0};
  }
  std::map<PeerId, double> cards = {};  ///< of peers whose network card differs, bytes per second

  /// Returns the bandwidth of all that one peer sends; 0: no limit.
  double nic_bandwidth(PeerId i) const {
    const auto own = cards.find(i);
    if (own != cards.end()) return own->second;
    return shape == NetworkShape::per_nic ? bandwidth : 0;
  }
};

}  // namespace gv
