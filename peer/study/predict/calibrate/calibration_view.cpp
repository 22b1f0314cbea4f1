#include "peer/study/predict/calibrate/calibration_view.h"

#include <fmt/format.h>

#include "peer/record/report/console.h"

namespace gv {

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
      c.seconds,
      1e3 * c.step_seconds,
      "training time",
      "loss",
      "L",
      "tr H",
      "sigma^2",
      "tr(H Sigma)",
      "zeta^2");
  for (const FleetCalibration::Point& p : c.points) {
    text += fmt::format("  {:>13.4g} {:>9.4g} {:>9.4g} {:>9.4g} {:>9.4g} {:>12.4g} {:>9.4g}\n",
                        p.time,
                        p.at.loss,
                        p.at.curvature,
                        p.at.trace,
                        p.at.noise,
                        p.at.noise_curvature,
                        p.at.spread);
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
