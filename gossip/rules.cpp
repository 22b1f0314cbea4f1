#include "gossip/rules.h"

#include <algorithm>

#include "gossip/plan.h"

namespace gv {
namespace {

/// Where the rounds of the ends differ, both look into the row of the lower id, so that not even
/// rounding can part them.
float scheduled_weight(const Plan& plan, const Terms& terms) {
  if (terms.theirs_began == terms.began) return terms.weight;
  const Round round = std::min(terms.theirs_began, terms.began);
  const Neighborhood row = plan.schedule->row(round, std::min(plan.id, terms.peer));
  const auto at = std::ranges::find(row.peers, std::max(plan.id, terms.peer));
  if (at == row.peers.end()) return 0;
  return static_cast<float>(row.weights[static_cast<std::size_t>(at - row.peers.begin())]);
}

}  // namespace

float Rules::weight(const Plan& plan, const Terms& terms) const {
  if (!terms.two_way) return terms.weight;
  if (plan.schedule) return scheduled_weight(plan, terms);
  if (!plan.live_degrees) return terms.weight;
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
