#pragma once

#include <string>
#include <vector>

#include "peer/show/page/states.h"

namespace gv {

/// The time of a group of runs, or of one peer, by where it goes.
struct SharesRow {
  std::string name;
  StateSeconds seconds{};
  double hidden_wire = 0;  ///< seconds on the wire while the peer computed: not part of the sum
};

/// A bar per row on a common scale of seconds, a segment per state; below it, hatched, what the
/// wire did meanwhile (not of more than 24 rows). Up to six rows name their segments; beyond 64 the
/// others are left out and the figure says so. Empty when no row has any time.
std::string shares_figure(const std::vector<SharesRow>& rows, const std::string& title);

constexpr std::size_t most_named_rows = 6, most_rows = 64;

}  // namespace gv
