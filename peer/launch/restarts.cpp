#include "peer/launch/restarts.h"

namespace gv {

std::optional<Time> Restarts::pause_after(Time lived) {
  constexpr Time first = std::chrono::milliseconds(100);
  if (lived >= a_while) in_a_row_ = 0;
  if (in_a_row_ >= most_in_a_row) return {};
  return first * (1 << in_a_row_++);
}

}  // namespace gv
