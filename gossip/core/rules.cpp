#include "gossip/core/rules.h"

#include "gossip/seam/plan.h"

namespace gv {

float Rules::weight(const Plan& plan, const Terms& terms) const {
  if (!terms.two_way || !plan.live_degrees) return terms.weight;
  return static_cast<float>(1.0 / (1 + std::max(terms.degree, terms.theirs_degree)));
}

bool Rules::takes_model(const Buffer& piece) const {
  return all_finite(piece.floats());
}

const Rules& documented_rules() {
  static const Rules rules;
  return rules;
}

}  // namespace gv
