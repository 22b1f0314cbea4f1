#pragma once

#include <string>
#include <vector>

#include "peer/show/page/graph_row.h"

namespace gv {

/// Draws how fast pure averaging removes a disagreement: the root of disagreement_after, relative
/// to the start, over rounds; a line per topology (slem^k where modes are not known). A circle
/// marks where the worst start is at a thousandth. Rounds are logarithmic if graphs differ widely.
std::string decay_figure(const std::vector<GraphRow>& rows);

/// The disagreement left after `round` rounds, relative to the start, in the root mean square.
double disagreement_left(const GraphRow& row, double round);

}  // namespace gv
