#include "optim/train/microbatches.h"

namespace gv {

void add_microbatch(Replica& replica, Vector sum, std::uint32_t k, std::uint32_t count) {
  if (count == 1) return;
  const Range all{0, replica.size()};
  const float share = 1.0F / static_cast<float>(count);
  if (k + 1 == count) return replica.axpby(1, sum, share, Vector::g, all);
  replica.axpby(share, Vector::g, k == 0 ? 0 : 1, sum, all);
}

}  // namespace gv
