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

std::vector<Slice> Objective::draw(std::uint32_t, std::uint32_t) {
  throw std::logic_error("the samples of this model cannot travel");
}

std::optional<double> Objective::gradient_over(std::span<const float>,
                                               const Buffer&,
                                               std::span<float>) {
  throw std::logic_error("this model takes no samples of others");
}

double Objective::descend(std::span<float>, const Descent&) {
  throw std::logic_error("the steps of this model touch all of x: threads cannot share it");
}

void Objective::forward(std::span<const float>, Microbatch, const Buffer*, Buffer*) {
  throw std::logic_error("this objective is no stage of a chain");
}

double Objective::backward(
    std::span<const float>, Microbatch, Buffer*, const Buffer*, std::span<float>) {
  throw std::logic_error("this objective is no stage of a chain");
}

}  // namespace gv
