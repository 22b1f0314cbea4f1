#include "gossip/collective_deadline.h"

#include <algorithm>

namespace gv {

Time collective_deadline(const Plan& plan) {
  if (plan.deadline == Time{0}) return Time{0};
  const Time under_way = plan.stage ? plan.stage->under_way : Time{0};
  return std::max(plan.deadline, 2 * plan.dead_after) + under_way;
}

Time longest_waits(const Plan& plan, Absence absence) {
  if (absence == Absence::away) return 2 * plan.peers * plan.deadline;
  if (!plan.stage) return 2 * plan.peers * collective_deadline(plan);
  const PeerId stages = plan.stage->stages;
  const PeerId models = (plan.peers + stages - 1) / stages;
  return 2 * (models * plan.deadline + stages * collective_deadline(plan));
}

}  // namespace gv
