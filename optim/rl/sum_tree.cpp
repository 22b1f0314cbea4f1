#include "optim/rl/sum_tree.h"

#include <algorithm>

#include "optim/check.h"

namespace gv {
namespace {

/// Children of a node: as many as lie in a cache line, of which a way through a large tree loads
/// one for each level.
constexpr std::size_t children = 8;

std::size_t nodes_above(std::size_t nodes) {
  return (nodes + children - 1) / children;
}

/// The child in which the running sum passes `at`, which becomes what is left of it there.
std::size_t passed_in(const double* weights, double& at) {
  // Counted without a branch, of which a processor would foretell every second one falsely.
  std::size_t chosen = 0;
  double before = 0;
  double sum = 0;
  for (std::size_t k = 0; k < children; ++k) {
    sum += weights[k];
    const bool passed = at >= sum;
    chosen += passed;
    before = passed ? sum : before;
  }
  // Where rounding has left too much of `at`, the last child that weighs anything is meant.
  if (chosen < children)
    at -= before;
  else
    while (--chosen > 0 && weights[chosen] <= 0) continue;
  return chosen;
}

}  // namespace

SumTree::SumTree(std::size_t places) {
  GV_CHECK(places > 0, "a tree of at least one place");
  std::size_t above = nodes_above(places);
  levels_.emplace_back(above * children);
  while (levels_.back().size() > 1) {
    const bool root = above == 1;
    levels_.emplace_back(root ? 1 : nodes_above(above) * children);
    above = nodes_above(above);
  }
}

void SumTree::set(std::size_t place, double weight) {
  levels_.front()[place] = weight;
  for (std::size_t level = 1; level < levels_.size(); ++level) {
    place /= children;
    const double* below = levels_[level - 1].data() + place * children;
    double sum = 0;
    for (std::size_t k = 0; k < children; ++k) sum += below[k];
    levels_[level][place] = sum;
  }
}

/// Level by level for all of them, so that the processor waits for many loads at a time.
void SumTree::find(std::span<double> at, std::span<std::uint32_t> places) const {
  std::ranges::fill(places, 0U);
  for (std::size_t level = levels_.size() - 1; level-- > 0;)
    for (std::size_t k = 0; k < at.size(); ++k) {
      const std::size_t first = std::size_t{places[k]} * children;
      const std::size_t child = passed_in(levels_[level].data() + first, at[k]);
      places[k] = static_cast<std::uint32_t>(first + child);
    }
}

}  // namespace gv
