#include "graph/spectrum/bounds.h"

#include <cmath>

namespace gv {

LianBound lian_sufficient_iterations(const LianProblem& p, double gap) {
  const double n = p.peers;
  const double one_minus_rho = gap * (2 - gap);
  const double spread = p.noise / one_minus_rho + 9 * p.difference / (gap * gap);
  const double scale = p.distance + p.lipschitz;
  return {4 * std::pow(p.lipschitz, 4) * std::pow(n, 5) / (std::pow(p.noise, 3) * scale * scale) *
              spread * spread,
          72 * p.lipschitz * p.lipschitz * n * n / (p.noise * gap * gap)};
}

double lian_gradient_bound(const LianProblem& p, double iterations) {
  return 8 * p.distance * p.lipschitz / iterations +
         (8 * p.distance + 6 * p.lipschitz) * std::sqrt(p.noise / (iterations * p.peers));
}

TransientOrders transient_orders(PeerId n, double gap) {
  const double p = gap * (2 - gap);
  const double cube = std::pow(n, 3);
  return {cube / (p * p), cube / std::pow(p, 4), n / (gap * gap)};
}

}  // namespace gv
