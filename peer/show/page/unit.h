#pragma once

#include <string>

#include "peer/show/page/lines_figure.h"

namespace gv {

/// A unit in which the largest value of an axis is a number of at most four digits.
struct Unit {
  double size = 1;   ///< in seconds, bytes or ones
  std::string name;  ///< "ms", "MB"; empty for ones
};

Unit unit_for(Quantity what, double largest);

/// "1.25 s", "3.4 MB", "935".
std::string quantity_text(Quantity what, double value);

}  // namespace gv
