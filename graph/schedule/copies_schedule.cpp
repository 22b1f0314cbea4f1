#include "graph/schedule/copies_schedule.h"

namespace gv {

Neighborhood among_copies(Neighborhood row, PeerId parts, PeerId s) {
  for (PeerId& peer : row.peers) peer = peer * parts + s;
  for (PeerId& peer : row.receivers) peer = peer * parts + s;
  return row;
}

}  // namespace gv
