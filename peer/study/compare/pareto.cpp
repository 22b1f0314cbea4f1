#include "peer/study/compare/pareto.h"

#include <algorithm>
#include <cmath>

namespace gv {

std::vector<bool> not_dominated(const std::vector<std::pair<double, double>>& costs) {
  const auto dominates = [](const auto& a, const auto& b) {
    return a.first <= b.first && a.second <= b.second && (a.first < b.first || a.second < b.second);
  };
  std::vector<bool> best;
  for (const auto& mine : costs) {
    const bool finite = std::isfinite(mine.first) && std::isfinite(mine.second);
    best.push_back(finite && std::ranges::none_of(
                                 costs, [&](const auto& other) { return dominates(other, mine); }));
  }
  return best;
}

}  // namespace gv
