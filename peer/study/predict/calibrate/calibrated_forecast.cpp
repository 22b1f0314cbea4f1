#include "peer/study/predict/calibrate/calibrated_forecast.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "graph/predict/transient.h"
#include "graph/topologies.h"
#include "graph/weights.h"

namespace gv {
namespace {

Estimate between(const Estimate& a, const Estimate& b, double weight) {
  return {a.value + weight * (b.value - a.value), 0};
}

/// Returns the uncertainty of one run's final loss: it scatters by about the noise part of the mean
/// model's excess, plus the prediction's error.
double scatter(const CalibratedForecast& c, std::uint64_t rounds) {
  const MeanExcess mean = c.mean_excess(rounds);
  return std::max(0.0, mean.noise) + mean.uncertainty();
}

/// Returns the lowest predictable target; below it, noise decides if a run gets there.
double least_target(const CalibratedForecast& c, std::uint64_t rounds) {
  return c.loss_local(rounds) + scatter(c, rounds);
}

/// Returns nothing if noise decides; infinite if never.
std::optional<double> rounds_to(const CalibratedForecast& c, double target, std::uint64_t rounds) {
  if (const auto reached = c.rounds_to(target)) {
    if (target < least_target(c, rounds)) return std::nullopt;
    return static_cast<double>(*reached);
  }
  return std::numeric_limits<double>::infinity();
}

/// `sums`: the excess of all-reduce.
void fill(Forecast& f,
          const CalibratedForecast& c,
          const MeanExcess& sums,
          std::uint64_t rounds,
          const std::optional<double>& target) {
  const Stationary end = c.after(rounds);
  const MeanExcess mean = c.mean_excess(rounds);
  const MeanExcess graph = mean.minus(sums);
  f.consensus = end.consensus.value;
  f.excess_mean = end.excess_mean.value;
  f.excess_mean_error = mean.uncertainty();
  f.mean_parts = {{"noise", mean.noise},
                  {"curvature", mean.push.curvature},
                  {"shares", mean.push.shares},
                  {"epoch", mean.push.epoch},
                  {"second", mean.push.second}};
  f.excess_local = end.excess_local.value;
  f.graph_part = graph.value();
  f.graph_part_error = graph.uncertainty();
  if (target) f.rounds_to_target = rounds_to(c, *target, rounds);
}

PullModes modes_of_fleet(const Assembly& fleet) {
  if (!fleet.is_plain_d_psgd()) return PullModes::exact_averaging(fleet.fleet.trainers());
  return PullModes(*fleet.w);
}

std::string order_of(const Assembly& fleet) {
  return fleet.is_plain_d_psgd() ? std::string(fleet.algorithm->order) : "atc";
}

/// Returns the stability limit of the rate at the curvature of this point.
double limit_at(const Assembly& fleet, const FleetCalibration::Point& point) {
  QuadraticFleet f{.momentum = fleet.fleet.optimizer.momentum,
                   .nesterov = fleet.fleet.optimizer.nesterov,
                   .order = order_of(fleet)};
  f.hessian = {std::max(point.at.curvature, 1e-12)};
  const PullModes modes = modes_of_fleet(fleet);
  return stable_rates({fleet.fleet.trainers(), {modes.modes()}, {}, ""}, f).limit();
}

/// Checks the end of the run and, if the rate changes, also a quarter of the way.
void check_rate(FleetForecast& forecast, const Assembly& fleet, const FleetCalibration& c) {
  const RateCourse course = course_of(fleet);
  forecast.warning.clear();
  if (c.points.back().time < c.horizon / 4) {
    forecast.warning = fmt::format(
        "the work allowed ends at training time {:.3g} of {:.3g}: losses are not predicted; give "
        "more of it with --work, or plan fewer rounds",
        c.points.back().time, c.horizon);
    return;
  }
  forecast.own.stable_rates = {{{0, limit_at(fleet, c.points.back())}}};
  const std::size_t looks = c.points.size();
  for (std::size_t k = course.constant() || looks < 2 ? looks - 1 : looks - 2; k < looks; ++k) {
    const FleetCalibration::Point& point = c.points[k];
    const std::uint64_t round = course.rounds_until(point.time);
    const double rate = course.rate(round > 0 ? round - 1 : 0);
    const double limit = limit_at(fleet, point);
    if (rate < limit) continue;
    forecast.own.stable_rates = {{{0, limit}}};
    forecast.warning = fmt::format(
        "rate {:.4g} is beyond the stability limit {:.4g} at the curvature L = {:.4g} measured at "
        "training time {:.4g}: losses are not predicted; lower train.optimizer.lr",
        rate, limit, point.at.curvature, point.time);
    return;
  }
}

/// Returns the largest rate x L at the measured points, with momentum included in the rate, if it
/// is too large for the errors to hold.
std::optional<double> beyond_trust(const Assembly& fleet, const FleetCalibration& c) {
  const RateCourse course = course_of(fleet);
  const double momentum = fleet.fleet.optimizer.momentum;
  double most = 0;
  for (const FleetCalibration::Point& point : c.points) {
    const std::uint64_t round = course.rounds_until(point.time);
    const double rate = course.rate(round > 0 ? round - 1 : 0);
    most = std::max(most, rate / (1 - momentum) * point.at.curvature);
  }
  if (most <= Forecast::trusted) return std::nullopt;
  return most;
}

/// If the rate is too large for some measured curvature, training changes the curvature as it
/// proceeds (Cohen et al. 2021, arXiv:2103.00065). A quadratic with fixed curvature then predicts
/// impossible losses: below zero, or far above the initial loss.
bool holds(const CalibratedForecast& own, const Forecast& filled, Round rounds) {
  const double last = own.loss_local(rounds);
  const double before = own.loss_local(rounds - rounds / 10);
  return std::isfinite(last) && std::min(last, before) >= 0 && last <= 1e3 * own.loss_local(0) &&
         std::isfinite(filled.consensus.value_or(0)) &&
         std::isfinite(filled.excess_mean_error.value_or(0));
}

constexpr const char* does_not_hold =
    "the quadratic model does not hold here: with the curvatures measured along the training it "
    "leaves what a loss can be, which real training does not do; no losses are predicted (at a "
    "lower train.optimizer.lr it holds for longer)";

}  // namespace

double MeanExcess::uncertainty() const {
  return 0.1 *
         std::sqrt(noise * noise + push.curvature * push.curvature + push.shares * push.shares +
                   push.epoch * push.epoch + push.second * push.second);
}

MeanExcess MeanExcess::minus(const MeanExcess& other) const {
  return {.noise = noise - other.noise,
          .push = MeanPush::of([&](auto part) { return push.*part - other.push.*part; }),
          .lagged = lagged - other.lagged};
}

CalibratedForecast::CalibratedForecast(const Assembly& fleet,
                                       const MixingMatrix& w,
                                       const FleetCalibration& calibration)
    : CalibratedForecast(fleet, PullModes(w), std::string(fleet.algorithm->order), calibration) {}

CalibratedForecast CalibratedForecast::of_all_reduce(const Assembly& fleet,
                                                     const FleetCalibration& calibration) {
  return {fleet, PullModes::exact_averaging(fleet.fleet.trainers()), "atc", calibration};
}

CalibratedForecast CalibratedForecast::of(const Assembly& fleet,
                                          const FleetCalibration& calibration) {
  return {fleet, modes_of_fleet(fleet), order_of(fleet), calibration};
}

CalibratedForecast::CalibratedForecast(const Assembly& fleet,
                                       const PullModes& modes,
                                       std::string order,
                                       const FleetCalibration& calibration)
    : calibration_(calibration), course_(course_of(fleet)), rounds_(fleet.rounds) {
  fleet_.rate = fleet.fleet.optimizer.lr;
  fleet_.momentum = fleet.fleet.optimizer.momentum;
  fleet_.nesterov = fleet.fleet.optimizer.nesterov;
  fleet_.order = std::move(order);
  for (const FleetCalibration::Point& point : calibration.points) {
    predictors_.emplace_back(modes, point.model);
    times_.push_back(point.time);
  }
  find_lags();
}

/// Finds each point's lag by part, E1 / |g|^2, from the pushes at it and before along its adjoints.
void CalibratedForecast::find_lags() {
  lags_.resize(times_.size());
  if (calibration_.slopes.empty()) return;
  std::vector<std::vector<MeanPush>> pushes;
  for (std::size_t j = 0; j < times_.size(); ++j)
    pushes.push_back(
        predictors_[j].push(fleet_, course_, course_.rounds_until(calibration_.points[j].age)));
  for (std::size_t k = 1; k < times_.size(); ++k) {
    lags_[k] = MeanPush::of([&](auto part) {
      double sum = 0;
      for (std::size_t j = 0; j <= k; ++j) sum -= pushes[j][k - j].*part;
      return sum / calibration_.points[k].slope;
    });
  }
}

/// Interpolates linearly in time between two points.
MeanPush CalibratedForecast::lag_at(double time) const {
  std::size_t k = 0;
  while (k + 2 < times_.size() && times_[k + 1] < time) ++k;
  if (times_.size() < 2) return {};
  const double weight = std::clamp((time - times_[k]) / (times_[k + 1] - times_[k]), 0.0, 1.0);
  return MeanPush::of(
      [&](auto part) { return lags_[k].*part + weight * (lags_[k + 1].*part - lags_[k].*part); });
}

/// Returns |grad f|^2 along descent.
double CalibratedForecast::slope_at(double time) const {
  constexpr double little = 1e-6;
  return loss_behind(calibration_.slopes, time, little * time) / (little * time);
}

/// Predicts the state after `rounds` rounds as if they had led to training time `time`.
Stationary CalibratedForecast::near(double time, std::uint64_t rounds) const {
  const Between at = between_points(times_, time);
  const Stationary s = predictors_[at.point].after(fleet_, course_, rounds);
  if (at.weight == 0) return s;
  const Stationary next = predictors_[at.point + 1].after(fleet_, course_, rounds);
  return {between(s.consensus, next.consensus, at.weight),
          between(s.excess_mean, next.excess_mean, at.weight),
          between(s.excess_local, next.excess_local, at.weight)};
}

Stationary CalibratedForecast::after(std::uint64_t rounds) const {
  const double now = course_.time(rounds);
  const double lag = lag_at(now).sum();
  Stationary s = near(std::max(0.0, now - lag), rounds);
  const double lagged = loss_behind(calibration_.slopes, now, lag);
  s.excess_mean.value += lagged;
  s.excess_local.value += lagged;
  return s;
}

MeanExcess CalibratedForecast::mean_excess(std::uint64_t rounds) const {
  const double now = course_.time(rounds);
  const MeanPush lag = lag_at(now);
  const double slope = calibration_.slopes.empty() || now <= 0 ? 0 : slope_at(now);
  const double lagged = loss_behind(calibration_.slopes, now, lag.sum());
  return {.noise = after(rounds).excess_mean.value - lagged,
          .push = MeanPush::of([&](auto part) { return slope * lag.*part; }),
          .lagged = lagged};
}

double CalibratedForecast::descent_loss(std::uint64_t rounds) const {
  const auto& curve = calibration_.curve;
  const double now = course_.time(rounds);
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
  const auto value = [this](std::uint64_t t) { return loss_local(t); };
  if (course_.constant() && fleet_.momentum == 0) return first_at_most(value, target, rounds_);
  // Longer recursions are evaluated at some rounds and interpolated.
  constexpr std::uint64_t looks = 64;
  double before = value(0);
  if (before <= target) return 0;
  for (std::uint64_t k = 1; k <= looks; ++k) {
    const double now = value(rounds_ * k / looks);
    if (now <= target) {
      const double part = (before - target) / (before - now);
      const double at = (static_cast<double>(k - 1) + part) / looks;
      return static_cast<std::uint64_t>(std::ceil(at * static_cast<double>(rounds_)));
    }
    before = now;
  }
  return std::nullopt;
}

void add_calibrated(FleetForecast& forecast,
                    const Assembly& fleet,
                    const FleetCalibration& calibration,
                    const std::optional<double>& target) {
  check_rate(forecast, fleet, calibration);
  if (!forecast.warning.empty()) return advise(forecast);
  const CalibratedForecast own = CalibratedForecast::of(fleet, calibration);
  const CalibratedForecast sums = CalibratedForecast::of_all_reduce(fleet, calibration);
  const MeanExcess of_sums = sums.mean_excess(fleet.rounds);
  // twice the scatter, so that graphs about as good as this one also reach the target
  const double usual = std::max(own.loss_local(fleet.rounds - fleet.rounds / 10),
                                own.loss_local(fleet.rounds) + 2 * scatter(own, fleet.rounds));
  forecast.target = target;
  if (!target && usual < own.loss_local(0)) forecast.target = usual;  // otherwise it diverges
  const Forecast plain = forecast.own;
  fill(forecast.own, own, of_sums, fleet.rounds, forecast.target);
  if (!holds(own, forecast.own, fleet.rounds)) {
    forecast.own = plain;
    forecast.target.reset();
    forecast.warning = does_not_hold;
    return advise(forecast);
  }
  double least = std::min(least_target(own, fleet.rounds), least_target(sums, fleet.rounds));
  for (Forecast& other : forecast.others) {
    const Topology t = build(parse_topology(other.topology), fleet.fleet.trainers());
    const MixingMatrix w = mixing_matrix(weights_for_all(fleet.fleet.weights), t);
    const CalibratedForecast its(fleet, w, calibration);
    fill(other, its, of_sums, fleet.rounds, forecast.target);
    least = std::min(least, least_target(its, fleet.rounds));
  }
  if (forecast.all_reduce) fill(*forecast.all_reduce, sums, of_sums, fleet.rounds, forecast.target);
  forecast.calibrated = true;
  forecast.basis =
      "of the training samples, as the mean over peers of the loss on each one's own, so that each "
      "counts alike whatever its number of samples; what a run reports is the loss on the test set";
  const std::optional<double> beyond = beyond_trust(fleet, calibration);
  forecast.own.beyond = beyond;
  for (Forecast& other : forecast.others) other.beyond = beyond;
  if (forecast.all_reduce) forecast.all_reduce->beyond = beyond;
  advise(forecast);
  if (target && *target < least)
    forecast.warning = fmt::format(
        "no graph here is sure to get to {:.4g} within the run: the best ends too near to it, or "
        "above, beside what one run scatters by; take `--target {:.4g}` or more",
        *target, least);
}

void add_beside(FleetForecast& forecast,
                const std::string& sets,
                const Assembly& other,
                const Forecast& row,
                const FleetCalibration& calibration) {
  FleetForecast beside;
  beside.own = row;
  check_rate(beside, other, calibration);
  if (beside.warning.empty()) {
    const CalibratedForecast sums = CalibratedForecast::of_all_reduce(other, calibration);
    fill(beside.own, CalibratedForecast::of(other, calibration), sums.mean_excess(other.rounds),
         other.rounds, forecast.target);
    beside.own.beyond = beyond_trust(other, calibration);
  }
  forecast.beside.push_back({sets, beside.own});
}

Json calibrated_json(const FleetForecast& forecast,
                     const Assembly& fleet,
                     const FleetCalibration& c) {
  if (!forecast.calibrated)
    return {{"loss_descent", nullptr},
            {"loss_mean", nullptr},
            {"loss_local", nullptr},
            {"curve", Json::array()}};
  constexpr std::uint64_t rows = 20;
  const CalibratedForecast own = CalibratedForecast::of(fleet, c);
  const auto row = [&](std::uint64_t round) -> Json {
    const Stationary s = own.after(round);
    return {{"round", round},
            {"loss_descent", own.descent_loss(round)},
            {"consensus", s.consensus.value},
            {"excess_loss_mean", s.excess_mean.value},
            {"excess_loss_local", s.excess_local.value}};
  };
  Json curve = Json::array();
  std::uint64_t last = 0;
  for (std::uint64_t k = 1; k <= rows; ++k) {
    const std::uint64_t round = fleet.rounds * k / rows;
    if (round > last) curve.push_back(row(round));
    last = round;
  }
  const double descent = own.descent_loss(fleet.rounds);
  const Stationary end = own.after(fleet.rounds);
  return {{"loss_descent", descent},
          {"loss_mean", descent + end.excess_mean.value},
          {"loss_local", descent + end.excess_local.value},
          {"curve", curve}};
}

}  // namespace gv
