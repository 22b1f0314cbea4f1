#include "graph/spectrum/bounded.h"

#include <algorithm>
#include <stdexcept>

#include "graph/spec/numbers.h"
#include "graph/spectrum/spectrum.h"

namespace gv {
namespace {

bool has_negative(const MixingMatrix& w) {
  for (PeerId i = 0; i < w.size(); ++i) {
    const Neighborhood& row = w.row(i);
    if (row.self < 0 || std::ranges::any_of(row.weights, [](double v) { return v < 0; }))
      return true;
  }
  return false;
}

}  // namespace

void require_bounded(const MixingMatrix& w, const std::string& name) {
  if (!has_negative(w)) return;
  const double slem = spectrum(w).slem;
  if (slem <= 1 + 1e-12) return;
  throw std::invalid_argument(name + ": some weights are negative and ||W - J|| is " +
                              shortest(slem) +
                              ", above 1: averaging would make a disagreement grow; make the "
                              "weights of each peer sum to at most 1");
}

}  // namespace gv
