#include "peer/predict/calibrate/calibrated_forecast.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "graph/predict/transient.h"
#include "graph/topologies.h"
#include "graph/weights.h"
#include "peer/predict/forecast/candidate.h"

namespace gv {
namespace {

Estimate between(const Estimate& a, const Estimate& b, double weight) {
  return {a.value + weight * (b.value - a.value), 0};
}

void fill(Forecast& f,
          const CalibratedForecast& c,
          std::uint64_t rounds,
          const std::optional<double>& target) {
  const Stationary end = c.after(rounds);
  f.consensus = end.consensus.value;
  f.excess_mean = end.excess_mean.value;
  f.excess_local = end.excess_local.value;
  if (!target) return;
  const auto reached = c.rounds_to(*target);
  f.rounds_to_target =
      reached ? static_cast<double>(*reached) : std::numeric_limits<double>::infinity();
}

void check_rate(FleetForecast& forecast, const Assembly& fleet, const FleetCalibration& c) {
  QuadraticFleet f{.rate = fleet.fleet.optimizer.lr,
                   .momentum = fleet.fleet.optimizer.momentum,
                   .order = std::string(fleet.algorithm->order)};
  f.hessian = {std::max(c.points.back().at.curvature, 1e-12)};
  const PullModes modes(*fleet.w);
  const double limit = stability_limit({fleet.fleet.trainers(), {modes.modes()}, {}, ""}, f);
  forecast.own.stability_limit = limit;
  forecast.warning.clear();
  if (f.rate < limit) return;
  forecast.warning = fmt::format(
      "rate {:g} is beyond the stability limit {:.4g} at the curvature L = {:.4g} measured at "
      "training time {:.4g}: losses are not predicted; lower train.optimizer.lr",
      f.rate,
      limit,
      f.hessian[0],
      c.points.back().time);
}

}  // namespace

CalibratedForecast::CalibratedForecast(const Assembly& fleet,
                                       const MixingMatrix& w,
                                       const FleetCalibration& calibration)
    : CalibratedForecast(fleet, PullModes(w), std::string(fleet.algorithm->order), calibration) {}

CalibratedForecast CalibratedForecast::of_all_reduce(const Assembly& fleet,
                                                     const FleetCalibration& calibration) {
  return {fleet, PullModes::exact_averaging(fleet.fleet.trainers()), "atc", calibration};
}

CalibratedForecast::CalibratedForecast(const Assembly& fleet,
                                       const PullModes& modes,
                                       std::string order,
                                       const FleetCalibration& calibration)
    : calibration_(calibration), rounds_(fleet.rounds) {
  fleet_.rate = fleet.fleet.optimizer.lr;
  fleet_.momentum = fleet.fleet.optimizer.momentum;
  fleet_.order = std::move(order);
  for (const FleetCalibration::Point& point : calibration.points) {
    const LocalPredictor& here = predictors_.emplace_back(modes, point.model);
    const auto rounds = static_cast<std::uint64_t>(std::round(point.age / time(1)));
    drift_.push_back({point.time, point.model.drift.axes, here.push(fleet_, rounds)});
    times_.push_back(point.time);
  }
}

double CalibratedForecast::time(std::uint64_t rounds) const {
  return fleet_.rate / (1 - fleet_.momentum) * static_cast<double>(rounds);
}

Stationary CalibratedForecast::after(std::uint64_t rounds) const {
  const double now = time(rounds);
  const Between at = between_points(times_, now);
  Stationary s = predictors_[at.point].after(fleet_, rounds);
  if (at.weight > 0) {
    const Stationary next = predictors_[at.point + 1].after(fleet_, rounds);
    s = {between(s.consensus, next.consensus, at.weight),
         between(s.excess_mean, next.excess_mean, at.weight),
         between(s.excess_local, next.excess_local, at.weight)};
  }
  const double drift = drift_excess(drift_, now);
  s.excess_mean.value += drift;
  s.excess_local.value += drift;
  return s;
}

double CalibratedForecast::descent_loss(std::uint64_t rounds) const {
  const auto& curve = calibration_.curve;
  const double now = time(rounds);
  const auto next = std::ranges::find_if(curve, [&](const auto& p) { return p.time >= now; });
  if (next == curve.end()) return curve.back().loss;
  if (next == curve.begin()) return next->loss;
  const auto last = next - 1;
  return last->loss + (now - last->time) / (next->time - last->time) * (next->loss - last->loss);
}

double CalibratedForecast::loss_local(std::uint64_t rounds) const {
  return descent_loss(rounds) + after(rounds).excess_local.value;
}

std::optional<std::uint64_t> CalibratedForecast::rounds_to(double target) const {
  return first_at_most([this](std::uint64_t t) { return loss_local(t); }, target, rounds_);
}

void add_calibrated(FleetForecast& forecast,
                    const Assembly& fleet,
                    const FleetCalibration& calibration,
                    const std::optional<double>& target) {
  check_rate(forecast, fleet, calibration);
  if (!forecast.warning.empty()) return advise(forecast);
  const CalibratedForecast own(fleet, *fleet.w, calibration);
  const double usual = own.loss_local(fleet.rounds - fleet.rounds / 10);
  forecast.target = target;
  if (!target && usual < own.loss_local(0)) forecast.target = usual;  // else it diverges
  fill(forecast.own, own, fleet.rounds, forecast.target);
  for (Forecast& other : forecast.others) {
    const Topology t = build(parse_topology(other.topology), fleet.fleet.trainers());
    const MixingMatrix w = mixing_matrix(weights_for_all(fleet.fleet.weights), t);
    fill(other, {fleet, w, calibration}, fleet.rounds, forecast.target);
  }
  if (forecast.all_reduce) {
    fill(*forecast.all_reduce,
         CalibratedForecast::of_all_reduce(fleet, calibration),
         fleet.rounds,
         forecast.target);
  }
  forecast.calibrated = true;
  advise(forecast);
}

Json calibrated_json(const FleetForecast& forecast,
                     const Assembly& fleet,
                     const FleetCalibration& c) {
  if (!forecast.calibrated)
    return {{"loss_descent", nullptr}, {"loss_mean", nullptr}, {"loss_local", nullptr}};
  const CalibratedForecast own(fleet, *fleet.w, c);
  const double descent = own.descent_loss(fleet.rounds);
  const Stationary end = own.after(fleet.rounds);
  return {{"loss_descent", descent},
          {"loss_mean", descent + end.excess_mean.value},
          {"loss_local", descent + end.excess_local.value}};
}

}  // namespace gv
