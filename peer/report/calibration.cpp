#include "peer/report/calibration.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "graph/predict_transient.h"
#include "optim/host_replica.h"

namespace gv {
namespace {

using Clock = std::chrono::steady_clock;
using Progress = std::function<void(const std::string&)>;

constexpr PeerId most_peers = 64;  ///< that are looked at
constexpr double point_flops = 6e10;
constexpr std::array<double, 3> looked_at{1.0 / 16, 1.0 / 4, 1.0};  ///< of the horizon

[[noreturn]] void refuse(const Assembly& fleet, const std::string& key, const std::string& what) {
  throw FleetError(fleet.fleet.path,
                   {{.where = fleet.fleet.path + ": " + key,
                     .message = "calibration " + what,
                     .source = "",
                     .help = ""}});
}

void check(const Assembly& fleet) {
  const OptimizerSpec& o = fleet.fleet.optimizer;
  if (fleet.algorithm->kind != "d-psgd" || fleet.schedule)
    refuse(fleet, "algorithm", "is for d-psgd on a topology that stays");
  if (o.kind != "sgd" || o.nesterov || o.weight_decay != 0)
    refuse(fleet, "train.optimizer", "is for sgd, without nesterov and weight_decay");
  if (o.schedule.kind != "constant" || o.schedule.warmup != 0 || !(o.lr > 0))
    refuse(fleet, "train.optimizer.schedule", "is for a constant rate above 0, without warmup");
  if (fleet.fleet.local_steps != 1) refuse(fleet, "train.local_steps", "is for one local step");
  if (fleet.rounds == std::numeric_limits<Step>::max())
    refuse(fleet, "stop", "needs to know the end: give stop.rounds or stop.epochs");
}

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

LocalModel local_model(const Calibration& c, PeerId peers) {
  LocalModel m{.peers = peers, .noise = {}, .epoch = c.epoch, .pulls = {}};
  for (const CurvaturePart& part : c.noise_parts) m.noise.push_back({part.curvature, part.value});
  for (const Calibration::Deviation& d : c.deviations) {
    LocalModel::Pull pull{{}, d.gram};
    for (const CurvaturePart& part : d.measure)
      pull.measure.push_back({part.curvature, part.value});
    m.pulls.push_back(std::move(pull));
  }
  return m;
}

/// Of some peers' deviations what all peers' are expected to be: their mean energy in each place.
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

/// The short training.
class Trial {
 public:
  Trial(const Assembly& fleet, const Progress& progress, double flops)
      : fleet_(fleet), progress_(progress), flops_(flops) {
    const PeerId n = fleet.fleet.size();
    const PeerId looked = std::min(n, most_peers);
    for (PeerId k = 0; k < looked; ++k) {
      const auto i = static_cast<PeerId>(std::uint64_t{k} * n / looked);
      fresh_.push_back(fleet.objective(i));
      moving_.push_back(fleet.objective(i));
    }
    sample_flops_ = fresh_[0]->gradient_flops(1);
    batch_ = fleet.fleet.peers[0].batch;
    x_.resize(fleet.dimension);
    fresh_[0]->initialize(x_, Rng(fleet.fleet.seed).derive("init"));
    const OptimizerSpec& o = fleet.fleet.optimizer;
    rate_ = o.lr / (1 - o.momentum);
    result_.horizon = rate_ * static_cast<double>(fleet.rounds);
  }

  FleetCalibration run() {
    const Clock::time_point begin = Clock::now();
    result_.step_seconds = measure_step();
    look();
    for (const double part : looked_at) {
      if (!advance(part * result_.horizon)) break;
      look();
    }
    result_.seconds = seconds_since(begin);
    return std::move(result_);
  }

 private:
  std::uint32_t scaled(double most, double flops, double least) const {
    return static_cast<std::uint32_t>(std::clamp(flops / sample_flops_, least, most));
  }

  void look() {
    progress_(fmt::format("calibrating: training time {:.3g} of {:.3g}", time_, result_.horizon));
    const CalibrationOptions options{.batch = batch_,
                                     .curvature_samples = scaled(4096, point_flops / 200, 256),
                                     .draws = scaled(512, point_flops / (4 * batch_), 64)};
    FleetCalibration::Point point{time_, {}, {}};
    try {
      point.at = gv::calibrate(fresh_, x_, options, Rng(fleet_.fleet.seed).derive("calibration"));
    } catch (const std::invalid_argument& e) {
      refuse(fleet_, "train.batch", fmt::format("impossible: {}", e.what()));
    }
    const PeerId n = fleet_.fleet.size();
    point.model = local_model(point.at, n);
    if (fresh_.size() < n) spread_over(point.model, fresh_.size(), n);
    result_.curve.push_back({time_, point.at.loss});
    result_.points.push_back(std::move(point));
  }

  /// Steps of 0.3 / L at most, a sixtieth of the way or the fleet's own rate; batches as large as
  /// the work allowed admits, for a mean without noise of its own. False when it did not suffice.
  bool advance(double until) {
    const double l = std::max(result_.points.back().at.curvature, 1e-12);
    const double way = until - time_;
    const double rate = std::min(0.3 / l, way / 60);
    const double steps = std::ceil(way / rate - 1e-9);
    const double shares = way / result_.horizon;
    const auto n = static_cast<double>(moving_.size());
    const double affordable = flops_ * shares / (steps * sample_flops_ * n);
    double most = 4096 / n;
    if (moving_[0]->samples() > 0) most = std::min(most, 1.0 * moving_[0]->samples());
    const double least = std::min(most, static_cast<double>(batch_));
    const auto batch = static_cast<std::uint32_t>(std::clamp(affordable, least, most));
    std::vector<double> g(x_.size());
    std::vector<double> x(x_.begin(), x_.end());
    double spent = 0;
    for (double step = 0; step < steps; ++step) {
      spent += batch * n * sample_flops_;
      if (spent > 4 * flops_ * shares) return false;
      const double loss = mean_gradient(moving_, x_, batch, g);
      losses_.push_back({time_, loss});
      for (std::size_t k = 0; k < x.size(); ++k) {
        x[k] -= way / steps * g[k];
        x_[k] = static_cast<float>(x[k]);
      }
      time_ += way / steps;
    }
    smooth_losses();
    time_ = until;
    return true;
  }

  /// Minibatch losses, a few steps together.
  void smooth_losses() {
    const std::size_t together = std::max<std::size_t>(1, losses_.size() / 60);
    for (std::size_t k = 0; k + together <= losses_.size(); k += together) {
      FleetCalibration::Loss mean;
      for (std::size_t j = k; j < k + together; ++j) {
        mean.time += losses_[j].time / static_cast<double>(together);
        mean.loss += losses_[j].loss / static_cast<double>(together);
      }
      if (mean.time > result_.curve.back().time) result_.curve.push_back(mean);
    }
    losses_.clear();
  }

  double measure_step() {
    std::vector<float> g(x_.size());
    const std::unique_ptr<Objective> mine = fleet_.objective(0);
    double least = 1e9;
    for (int k = 0; k < 5; ++k) {
      const Clock::time_point begin = Clock::now();
      mine->value_and_gradient(x_, batch_, g);
      least = std::min(least, seconds_since(begin));
    }
    return least;
  }

  const Assembly& fleet_;
  const Progress& progress_;
  double flops_;
  std::vector<std::unique_ptr<Objective>> fresh_, moving_;
  double sample_flops_ = 1;
  std::uint32_t batch_ = 1;
  std::vector<float> x_;
  double rate_ = 0;
  double time_ = 0;
  std::vector<FleetCalibration::Loss> losses_;
  FleetCalibration result_;
};

/// Weights that any graph can have; as forecast() chooses them.
std::string weights_for_all(const std::string& weights) {
  return weights == "max-degree" || weights == "lazy" || weights == "best-constant" ? weights
                                                                                    : "metropolis";
}

Estimate between(const Estimate& a, const Estimate& b, double weight) {
  return {a.value + weight * (b.value - a.value), 0};
}

void fill(Forecast& f, const CalibratedForecast& c, std::uint64_t rounds, double target) {
  const Stationary end = c.after(rounds);
  f.consensus = end.consensus.value;
  f.excess_mean = end.excess_mean.value;
  f.excess_local = end.excess_local.value;
  const auto reached = c.rounds_to(target);
  f.rounds_to_target =
      reached ? static_cast<double>(*reached) : std::numeric_limits<double>::infinity();
}

nlohmann::ordered_json number(double value) {
  return std::isfinite(value) ? nlohmann::ordered_json(value) : nlohmann::ordered_json();
}

void check_rate(FleetForecast& forecast, const Assembly& fleet, const FleetCalibration& c) {
  QuadraticFleet f{.rate = fleet.fleet.optimizer.lr,
                   .momentum = fleet.fleet.optimizer.momentum,
                   .order = std::string(fleet.algorithm->order)};
  f.hessian = {std::max(c.points.back().at.curvature, 1e-12)};
  const PullModes modes(*fleet.w);
  const double limit = stability_limit({fleet.fleet.size(), {modes.modes()}, {}, ""}, f);
  forecast.own.stability_limit = limit;
  forecast.warning.clear();
  if (f.rate < limit) return;
  forecast.warning = fmt::format(
      "rate {:g} is beyond the stability limit {:.4g} at the curvature L = {:.4g} measured at the "
      "end: the prediction does not hold; lower train.optimizer.lr",
      f.rate,
      limit,
      f.hessian[0]);
}

}  // namespace

FleetCalibration calibrate(const Assembly& fleet, const Progress& progress, double flops) {
  check(fleet);
  set_compute_threads(1);  // small products; and bits that do not depend on the machine's cores
  return Trial(fleet, progress, flops).run();
}

CalibratedForecast::CalibratedForecast(const Assembly& fleet,
                                       const MixingMatrix& w,
                                       const FleetCalibration& calibration)
    : calibration_(calibration), rounds_(fleet.rounds) {
  fleet_.rate = fleet.fleet.optimizer.lr;
  fleet_.momentum = fleet.fleet.optimizer.momentum;
  fleet_.order = std::string(fleet.algorithm->order);
  const PullModes modes(w);
  for (const FleetCalibration::Point& point : calibration.points)
    predictors_.emplace_back(modes, point.model);
}

double CalibratedForecast::time(std::uint64_t rounds) const {
  return fleet_.rate / (1 - fleet_.momentum) * static_cast<double>(rounds);
}

/// Between two points, in the logarithm of time; before the second point, in time.
Stationary CalibratedForecast::after(std::uint64_t rounds) const {
  const auto& points = calibration_.points;
  const double now = time(rounds);
  std::size_t k = 0;
  while (k + 1 < points.size() && points[k + 1].time < now * (1 - 1e-9)) ++k;
  const Stationary a = predictors_[k].after(fleet_, rounds);
  if (k + 1 == points.size()) return a;
  const Stationary b = predictors_[k + 1].after(fleet_, rounds);
  if (now >= points[k + 1].time * (1 - 1e-9)) return b;
  const double weight =
      k == 0 ? now / points[1].time
             : std::log(now / points[k].time) / std::log(points[k + 1].time / points[k].time);
  return {between(a.consensus, b.consensus, weight),
          between(a.excess_mean, b.excess_mean, weight),
          between(a.excess_local, b.excess_local, weight)};
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
  const CalibratedForecast own(fleet, *fleet.w, calibration);
  forecast.target = target ? *target : own.loss_local(fleet.rounds - fleet.rounds / 10);
  fill(forecast.own, own, fleet.rounds, *forecast.target);
  for (Forecast& other : forecast.others) {
    const Topology t = build(parse_topology(other.topology), fleet.fleet.size());
    const MixingMatrix w = mixing_matrix(weights_for_all(fleet.fleet.weights), t);
    fill(other, {fleet, w, calibration}, fleet.rounds, *forecast.target);
  }
  forecast.calibrated = true;
  check_rate(forecast, fleet, calibration);
  advise(forecast);
}

nlohmann::ordered_json calibrated_json(const Assembly& fleet, const FleetCalibration& c) {
  const CalibratedForecast own(fleet, *fleet.w, c);
  const double descent = own.descent_loss(fleet.rounds);
  const Stationary end = own.after(fleet.rounds);
  return {{"loss_descent", number(descent)},
          {"loss_mean", number(descent + end.excess_mean.value)},
          {"loss_local", number(descent + end.excess_local.value)}};
}

nlohmann::ordered_json calibration_json(const FleetCalibration& c) {
  nlohmann::ordered_json points = nlohmann::ordered_json::array();
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
      "  {:>13} {:>10} {:>10} {:>10} {:>10} {:>12} {:>10}\n",
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
    text += fmt::format("  {:>13.4g} {:>10.4g} {:>10.4g} {:>10.4g} {:>10.4g} {:>12.4g} {:>10.4g}\n",
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
  return text;
}

}  // namespace gv
