#include "optim/models/objective.h"

#include <stdexcept>

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

double Objective::descend(std::span<float>, const Descent&) {
  throw std::logic_error("the steps of this model touch all of x: threads cannot share it");
}

}  // namespace gv
