#include "graph/spectrum/bounds.h"

#include <cmath>

namespace gv {

TransientOrders transient_orders(PeerId n, double gap) {
  const double p = gap * (2 - gap);
  const double cube = std::pow(n, 3);
  return {cube / (p * p), cube / std::pow(p, 4), n / (gap * gap)};
}

}  // namespace gv
