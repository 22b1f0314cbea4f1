#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "peer/record/report/console.h"
#include "peer/study/predict/calibrate/calibrated_forecast.h"

namespace gv {
namespace {

/// A share of b E samples has sigma^2 / E of zeta^2 because it is a sample (the mean over n takes
/// 1/n).
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

Json calibration_json(const FleetCalibration& c) {
  Json points = Json::array();
  for (const FleetCalibration::Point& p : c.points) {
    points.push_back({{"training_time", p.time},
                      {"loss", p.at.loss},
                      {"gradient_square", p.at.gradient_square},
                      {"curvature", p.at.curvature},
                      {"trace", p.at.trace},
                      {"noise", p.at.noise},
                      {"noise_curvature", p.at.noise_curvature},
                      {"spread", p.at.spread},
                      {"batches_per_epoch", p.at.epoch}});
  }
  return {{"horizon", c.horizon},
          {"complete", c.points.back().time >= c.horizon},
          {"points", points},
          {"step_seconds", c.step_seconds},
          {"seconds", c.seconds}};
}

std::string calibration_text(const FleetCalibration& c) {
  std::string text = fmt::format(
      "calibrated in {:.1f} s; a minibatch gradient takes {:.3g} ms on a core here\n"
      "  {:>13} {:>9} {:>9} {:>9} {:>9} {:>12} {:>9}\n",
      c.seconds, 1e3 * c.step_seconds, "training time", "loss", "L", "tr H", "sigma^2",
      "tr(H Sigma)", "zeta^2");
  for (const FleetCalibration::Point& p : c.points) {
    text += fmt::format("  {:>13.4g} {:>9.4g} {:>9.4g} {:>9.4g} {:>9.4g} {:>12.4g} {:>9.4g}\n",
                        p.time, p.at.loss, p.at.curvature, p.at.trace, p.at.noise,
                        p.at.noise_curvature, p.at.spread);
  }
  if (c.points.back().time < c.horizon)
    text += fmt::format("  stopped before training time {:.4g}: later rounds by the last row\n",
                        c.horizon);
  return text +
         wrapped(
             "  training time: the sum of the learning rates so far; of the Hessian H, "
             "the largest eigenvalue L and the trace: how curved the loss is; sigma^2: "
             "variance of a minibatch gradient, and tr(H Sigma) the same weighted by "
             "the curvature; zeta^2: how far the peers' gradients are apart",
             2) +
         "\n";
}

}  // namespace gv
