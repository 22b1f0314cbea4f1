#include "optim/train/microbatches.h"

namespace gv {

void add_microbatch(Replica& replica, Vector sum, MicrobatchShare share) {
  if (!share.changes()) return;
  if (share.count == 1) return replica.scale(Vector::g, share.weight);
  const Range all{0, replica.size()};
  if (share.index + 1 == share.count) return replica.axpby(1, sum, share.weight, Vector::g, all);
  replica.axpby(share.weight, Vector::g, share.index == 0 ? 0 : 1, sum, all);
}

}  // namespace gv
