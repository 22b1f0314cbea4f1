#include "gossip/collective_deadline.h"

#include <algorithm>

namespace gv {

Time collective_deadline(const Plan& plan) {
  if (plan.deadline == Time{0}) return Time{0};
  const Time under_way = plan.stage ? plan.stage->under_way : Time{0};
  return std::max(plan.deadline, 2 * plan.dead_after) + under_way;
}

}  // namespace gv
