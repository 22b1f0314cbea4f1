#include "optim/models/objective.h"

namespace gv {

std::size_t Objective::size() const {
  std::size_t total = 0;
  for (const Parameter& p : parameters()) {
    std::size_t elements = 1;
    for (const std::uint32_t extent : p.shape) elements *= extent;
    total += elements;
  }
  return total;
}

}  // namespace gv
