#include "graph/schedule/copies_schedule.h"

namespace gv {

Neighborhood among_copies(Neighborhood row, const ChainMap& chains, PeerId i) {
  for (PeerId& peer : row.peers) peer = chains.counterpart(i, peer);
  for (PeerId& peer : row.receivers) peer = chains.counterpart(i, peer);
  return row;
}

}  // namespace gv
