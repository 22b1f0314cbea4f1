#include "peer/cli/plan_batch.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "peer/fleet/work_shares.h"
#include "peer/study/predict/forecast/batch_advice.h"

namespace gv::cli {

std::vector<std::uint32_t> batches_of(const Fleet& fleet) {
  std::vector<std::uint32_t> batches;
  for (PeerId i = 0; i < fleet.trainers(); ++i) batches.push_back(fleet.peers[i].batch);
  return batches;
}

namespace {

/// "64" or "16 .. 144, 64 on average (...)".
std::string batch_text(const Fleet& fleet) {
  const std::vector<std::uint32_t> batches = batches_of(fleet);
  const auto [least, most] = std::ranges::minmax(batches);
  if (least == most) return fmt::format("{}", least);
  double sum = 0;
  for (const std::uint32_t batch : batches) sum += batch;
  return fmt::format(
      "{} .. {}, {:.4g} on average (the fleet's gradient has {:.3g} times the "
      "variance of equal ones)",
      least,
      most,
      sum / static_cast<double>(batches.size()),
      noise_of_unequal(batches));
}

/// Only the program knows its rate; by how much it is to be another follows from the batch.
void print_own_rate(const BatchAdvice& advice) {
  const double times = advice.together / advice.alone;
  fmt::print(
      "rate   the program's own; if it was tuned for {:.4g} samples, then for {:.4g}: {:.3g}\n"
      "       times as high by linear scaling (SGD, Goyal et al. 2017), {:.3g} times by the\n"
      "       square root (Adam, Malladi et al. 2022)\n",
      advice.alone,
      advice.together,
      times,
      std::sqrt(times));
}

}  // namespace

void print_batch(const Assembly& fleet) {
  if (!fleet.data.train && !fleet.fleet.program)
    return;  // gradients of an oracle or an agent come from no samples of a set
  const BatchAdvice advice = batch_advice(fleet);
  fmt::print("batch  {}\n", batch_text(fleet.fleet));
  if (advice.together <= advice.alone) return;
  fmt::print("       {:.4g} samples together in a step of the fleet's model\n", advice.together);
  if (has_own_rate(fleet)) return print_own_rate(advice);
  fmt::print(
      "rate   {:.4g}; if it was tuned for {:.4g} samples, then for {:.4g}: {:.3g} by linear\n"
      "       scaling (SGD, Goyal et al. 2017), {:.3g} by the square root (Adam, Malladi\n"
      "       et al. 2022)\n",
      fleet.fleet.optimizer.lr,
      advice.alone,
      advice.together,
      advice.linear,
      advice.square_root);
  if (advice.warmup > 0 && fleet.fleet.optimizer.schedule.warmup == 0)
    fmt::print(
        "       with the linear one, `train.optimizer.warmup: {}`: five epochs, or a\n"
        "       tenth of the run\n",
        advice.warmup);
}

void print_noise_scale(const Assembly& fleet, const FleetCalibration& calibration) {
  const std::uint32_t batch = fleet.fleet.peers[0].batch;
  const double first = noise_scale(calibration.points.front(), batch);
  const double last = noise_scale(calibration.points.back(), batch);
  const double together = batch_advice(fleet).together;
  fmt::print(
      "critical batch (gradient noise scale): {:.3g} samples at the start, {:.3g} at the\n"
      "  end; the fleet's {:.4g} are {} it\n  (McCandlish et al. 2018)\n",
      first,
      last,
      together,
      together > last    ? "beyond"
      : together > first ? "beyond it at the start and then below"
                         : "below");
}

Json scaling_json(const Assembly& fleet, const std::optional<FleetCalibration>& calibration) {
  const BatchAdvice advice = batch_advice(fleet);
  const bool known = !has_own_rate(fleet);
  Json json{{"batch_alone", advice.alone},
            {"batch_together", advice.together},
            {"lr", known ? Json(fleet.fleet.optimizer.lr) : Json()},
            {"lr_linear", known ? Json(advice.linear) : Json()},
            {"lr_square_root", known ? Json(advice.square_root) : Json()},
            {"warmup_steps", known ? Json(advice.warmup) : Json()}};
  if (!calibration) return json;
  for (const FleetCalibration::Point& point : calibration->points)
    json["noise_scale"].push_back({{"training_time", point.time},
                                   {"samples", noise_scale(point, fleet.fleet.peers[0].batch)}});
  return json;
}

}  // namespace gv::cli
