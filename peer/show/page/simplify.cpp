#include "peer/show/page/simplify.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

namespace gv::svg {
namespace {

/// Keeps of a strip no wider than `width` the first point, the lowest, the highest and the last:
/// what a curve of a million points shows there. So the quadratic worst case below stays small.
std::vector<Point> thinned(const std::vector<Point>& points, double width) {
  std::vector<Point> out;
  std::size_t first = 0;
  while (first < points.size()) {
    std::size_t last = first;
    std::size_t low = first;
    std::size_t high = first;
    while (last + 1 < points.size() && points[last + 1].x - points[first].x <= width) {
      ++last;
      if (points[last].y < points[low].y) low = last;
      if (points[last].y > points[high].y) high = last;
    }
    std::vector<std::size_t> kept{first, low, high, last};
    std::ranges::sort(kept);
    kept.erase(std::unique(kept.begin(), kept.end()), kept.end());
    for (const std::size_t k : kept) out.push_back(points[k]);
    first = last + 1;
  }
  return out;
}

double distance(Point p, Point a, Point b) {
  const Point way{b.x - a.x, b.y - a.y};
  const double length = std::hypot(way.x, way.y);
  if (length == 0) return std::hypot(p.x - a.x, p.y - a.y);
  return std::abs(way.x * (a.y - p.y) - (a.x - p.x) * way.y) / length;
}

}  // namespace

std::vector<Point> simplify(const std::vector<Point>& points, double tolerance) {
  const std::vector<Point> all = thinned(points, tolerance);
  if (all.size() < 3) return all;
  std::vector<bool> stays(all.size(), false);
  stays.front() = stays.back() = true;
  std::vector<std::pair<std::size_t, std::size_t>> open{{0, all.size() - 1}};
  while (!open.empty()) {
    const auto [from, to] = open.back();
    open.pop_back();
    std::size_t furthest = from;
    double most = tolerance;
    for (std::size_t k = from + 1; k < to; ++k) {
      const double far = distance(all[k], all[from], all[to]);
      if (far > most) {
        most = far;
        furthest = k;
      }
    }
    if (furthest == from) continue;
    stays[furthest] = true;
    open.emplace_back(from, furthest);
    open.emplace_back(furthest, to);
  }
  std::vector<Point> out;
  for (std::size_t k = 0; k < all.size(); ++k)
    if (stays[k]) out.push_back(all[k]);
  return out;
}

}  // namespace gv::svg
