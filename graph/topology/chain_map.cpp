#include "graph/topology/chain_map.h"

#include <algorithm>

namespace gv {

ChainMap::ChainMap(std::span<const PeerId> peers_of_stages)
    : stages_(static_cast<PeerId>(peers_of_stages.size())) {
  PeerId end = 0;
  for (const PeerId peers : peers_of_stages) ends_.push_back(end += peers);
}

PeerId ChainMap::stage(PeerId i) const {
  const PeerId at = i % peers();
  if (ends_.empty()) return at;
  return static_cast<PeerId>(std::ranges::upper_bound(ends_, at) - ends_.begin());
}

std::vector<PeerId> ChainMap::stage_peers(PeerId i, PeerId stage) const {
  std::vector<PeerId> all;
  for (PeerId k = 0; k < peers_of(stage); ++k) all.push_back(first(i) + begin(stage) + k);
  return all;
}

}  // namespace gv
