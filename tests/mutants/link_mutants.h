#pragma once

#include <string_view>
#include <vector>

#include "peer/sim/link_parts.h"

namespace gv {

/// A deliberate bug of the link layer: one part that is wrong in the place of one that ships.
struct LinkMutant {
  std::string_view name;
  LinkParts parts;
};

std::vector<LinkMutant> link_mutants();

}  // namespace gv
