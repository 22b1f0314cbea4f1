#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>

#include "gossip/peer.h"

namespace gv {

/// Checks that flows are answered in the round after them: a method whose flows act again in later
/// rounds is sound only while each later round brings the next flow over the same edges.
class InStep {
 public:
  explicit InStep(const Peer& me) : me_(me), numbers_(me.exchanges()) {}

  /// Returns whether this round and the one before have settled exchanges with the same neighbours,
  /// and left exchanges open with the same. A neighbour that stays away has no effect, because
  /// nothing flows over its edge. Call once in each round, after averaging.
  bool kept() {
    Edges edges;
    for (const auto& [peer, number] : me_.exchanges()) {
      edges[peer] = {number.value - numbers_[peer].value, me_.exchanging(peer)};
      numbers_[peer] = number;
    }
    const bool same = !last_ || *last_ == edges;
    last_ = std::move(edges);
    return same;
  }

 private:
  struct Edge {
    std::uint64_t settled = 0;  ///< exchanges, in this round
    bool open = false;
    bool operator==(const Edge&) const = default;
  };
  using Edges = std::map<PeerId, Edge>;

  const Peer& me_;
  std::map<PeerId, ExchangeNumber> numbers_;  ///< number of the next exchange, by neighbour
  std::optional<Edges> last_;
};

}  // namespace gv
