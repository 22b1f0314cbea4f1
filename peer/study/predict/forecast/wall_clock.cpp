#include "peer/study/predict/forecast/wall_clock.h"

#include <algorithm>

namespace gv {

double WallClock::bytes_seconds(double models) const {
  return bandwidth > 0 ? models * model_bytes / bandwidth : 0;
}

double WallClock::ring_all_reduce() const {
  const auto n = static_cast<double>(peers);
  return compute + 2 * (n - 1) * latency + bytes_seconds(2 * (n - 1) / n);
}

double WallClock::server() const {
  return compute + 2 * latency + bytes_seconds(2 * static_cast<double>(peers));
}

double WallClock::gossip(double models, bool overlaps) const {
  if (models <= 0) return compute;
  const double wire = latency + bytes_seconds(models);
  return overlaps ? std::max(compute, wire) : compute + wire;
}

}  // namespace gv
