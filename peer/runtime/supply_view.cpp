#include <fmt/format.h>

#include "peer/runtime/views.h"

namespace gv {

bool does_without_supplier(const Assembly& fleet, PeerId by) {
  const Setup& setup = *fleet.setup;
  const PeerId first = setup.peers + setup.servers;
  const bool supplies = by >= first && by < first + setup.data_servers;
  return supplies && setup.data_servers > 1 && fleet.algorithm->promise != Promise::agreement;
}

std::string supply_ended_text(PeerId by) {
  return fmt::format(
      "without peer {} the peers that learn from its samples have ended; the others continue", by);
}

}  // namespace gv
