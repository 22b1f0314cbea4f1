#pragma once

#include <string>

#include "peer/show/page/data_table.h"
#include "peer/study/compare/first_map.h"

namespace gv {

/// Draws who is first where: a cell per network, in the colour and with the letter of its first
/// method; hatched where a method is not known, with both letters where two are close; the networks
/// of the runs as rings.
std::string map_picture(const FirstMap& map);

/// Adds a title, a sentence on how it is read, and the seconds of each network folded.
Figure map_figure(const FirstMap& map);

}  // namespace gv
