#include "peer/wire/tcp/handshake_budget.h"

#include <algorithm>
#include <chrono>

namespace gv {

bool HandshakeBudget::spend(const Source& source, Time now) {
  if (now - window_ >= std::chrono::seconds(1)) {
    window_ = now;
    spent_ = 0;
    spent_by_.clear();
  }
  const bool counts_for_all = source.neighbors == 0;
  if (counts_for_all && spent_ >= of_all) return false;
  if (!source.is_here) {
    std::size_t& spent = spent_by_[source.address];
    if (spent >= of_one * std::max<std::size_t>(1, source.neighbors)) return false;
    ++spent;
  }
  if (counts_for_all) ++spent_;
  return true;
}

}  // namespace gv
