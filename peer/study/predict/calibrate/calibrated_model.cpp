#include "peer/study/predict/calibrate/calibrated_model.h"

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
  LocalModel m{.peers = peers,
               .noise = c.noise_parts,
               .epoch = c.epoch,
               .pulls = c.deviations,
               .drift = c.drift};
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
