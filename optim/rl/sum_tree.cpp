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

std::size_t SumTree::find(double at) const {
  std::size_t node = 0;
  for (std::size_t level = levels_.size() - 1; level-- > 0;) {
    const double* below = levels_[level].data() + node * children;
    std::size_t chosen = 0;
    // Where rounding leaves a little of `at`, the last child that weighs anything is meant.
    for (std::size_t k = 0; k < children; ++k) {
      if (below[k] <= 0) continue;
      chosen = k;
      if (at < below[k]) break;
      at -= below[k];
    }
    node = node * children + chosen;
  }
  return node;
}

}  // namespace gv
