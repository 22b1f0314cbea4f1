#pragma once

#include <vector>

#include "peer/show/page/svg.h"

namespace gv::svg {

/// Removes points from a curve whose x never decreases, so that each removed point is within
/// `tolerance` pixels of the line through the remaining ones; the ends remain. Nothing is smoothed:
/// every remaining point is one of the curve's. Ramer 1972, Douglas & Peucker 1973.
std::vector<Point> simplify(const std::vector<Point>& points, double tolerance = 0.25);

}  // namespace gv::svg
