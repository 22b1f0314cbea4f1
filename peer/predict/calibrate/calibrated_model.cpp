#include "peer/predict/calibrate/calibrated_model.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace gv {
namespace {

/// A share of b E samples has sigma^2 / E of zeta^2 for being a sample (the mean over n takes 1 /
/// n).
double sampled_spread(const Calibration& c, double looked) {
  if (c.epoch == 0 || c.spread <= 0) return 0;
  return std::min(1.0, c.noise / c.epoch * (1 - 1 / looked) / c.spread);
}

}  // namespace

LocalModel local_model(const Calibration& c, PeerId peers, std::size_t looked) {
  LocalModel m{.peers = peers, .noise = {}, .epoch = c.epoch, .pulls = {}, .drift = {}};
  for (const CurvaturePart& part : c.noise_parts) m.noise.push_back({part.curvature, part.value});
  for (const Calibration::Deviation& d : c.deviations) {
    LocalModel::Pull pull{{}, d.gram};
    for (const CurvaturePart& part : d.measure)
      pull.measure.push_back({part.curvature, part.value});
    m.pulls.push_back(std::move(pull));
  }
  for (const Drift::Axis& axis : c.drift.axes) m.drift.axes.push_back({axis.curvature, axis.slope});
  for (const Drift::Source& source : c.drift.sources)
    m.drift.sources.push_back({source.of_deviation, source.of_variance});
  for (const Drift::Lasting& lasting : c.drift.lasting)
    m.drift.lasting.push_back({lasting.memory, lasting.push});
  m.drift.sampled = sampled_spread(c, static_cast<double>(looked));
  return m;
}

void spread_over(LocalModel& m, std::size_t looked, PeerId peers) {
  m.peers = peers;
  for (LocalModel::Pull& pull : m.pulls) {
    double mean = 0;
    for (std::size_t i = 0; i < looked; ++i) mean += pull.gram[i * looked + i];
    mean /= static_cast<double>(looked);
    std::vector<double> gram(std::size_t{peers} * peers, -mean / (peers - 1.0));
    for (std::size_t i = 0; i < peers; ++i) gram[i * peers + i] = mean;
    pull.gram = std::move(gram);
  }
}

}  // namespace gv
