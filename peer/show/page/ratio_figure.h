#pragma once

#include <string>
#include <vector>

#include "peer/show/page/lines_figure.h"

namespace gv {

/// A figure as it was predicted before a run, beside what the run measured.
struct Ratio {
  std::string name;  ///< such as "seconds a round"
  Quantity unit = Quantity::number;
  double predicted = 0, measured = 0;
};

/// A dot per row at measured / predicted on a logarithmic scale from 0.5 to 2, both values in
/// words; what lies outside the scale is an arrow at its border and says how far. Rows without two
/// positive values are left out. Empty when none is left.
std::string ratio_figure(const std::vector<Ratio>& ratios);

}  // namespace gv
