#pragma once

#include <span>
#include <vector>

#include "graph/topology/topology.h"

namespace gv {

/// Says which peer is which stage of which chain. The ids of a chain follow each other: the peers
/// of its first stage, then those of its second one; then the next chain's. So stage s of chain c,
/// of p stages with one peer each, is peer c p + s. Whoever asks where a peer stands asks here.
class ChainMap {
 public:
  /// Chains of so many stages, each of one peer.
  explicit ChainMap(PeerId stages = 1) : stages_(stages) {}
  /// Each number is that of the peers of a stage, at least one.
  explicit ChainMap(std::span<const PeerId> peers_of_stages);

  PeerId stages() const { return stages_; }
  PeerId peers() const { return ends_.empty() ? stages_ : ends_.back(); }  ///< of a chain
  PeerId peers_of(PeerId stage) const { return ends_.empty() ? 1 : ends_[stage] - begin(stage); }

  PeerId chain(PeerId i) const { return i / peers(); }
  PeerId stage(PeerId i) const;
  PeerId copy(PeerId i) const { return i % peers() - begin(stage(i)); }  ///< of its stage's peers

  /// The first peer of the chain that peer i is in.
  PeerId first(PeerId i) const { return i - i % peers(); }
  /// The peer that is in this chain what i is in its own.
  PeerId counterpart(PeerId i, PeerId chain) const { return chain * peers() + i % peers(); }
  /// The peers of a stage of the chain that peer i is in; ascending.
  std::vector<PeerId> stage_peers(PeerId i, PeerId stage) const;

 private:
  /// Of the stage's peers, in its chain.
  PeerId begin(PeerId stage) const {
    if (ends_.empty()) return stage;
    return stage == 0 ? 0 : ends_[stage - 1];
  }

  PeerId stages_;
  std::vector<PeerId> ends_{};  ///< of each stage's peers in a chain; empty: one of each
};

}  // namespace gv
