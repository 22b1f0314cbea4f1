#pragma once

#include <vector>

#include "peer/show/page/svg.h"

namespace gv::svg {

/// Fewer points of a curve whose x never falls, none of the others further than `tolerance` pixels
/// from the line through those that stay; the ends stay. Nothing is smoothed: every point that
/// stays is one of the curve's. Ramer 1972, Douglas & Peucker 1973.
std::vector<Point> simplify(const std::vector<Point>& points, double tolerance = 0.25);

}  // namespace gv::svg
