#include "peer/predict/calibrate/fleet_calibration.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "peer/predict/calibrate/calibrated_model.h"

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
  if (!fleet.is_plain_d_psgd() || fleet.schedule)
    refuse(fleet, "algorithm", "is for d-psgd on a topology that stays");
  if (o.kind != "sgd" || o.nesterov || o.weight_decay != 0)
    refuse(fleet, "train.optimizer", "is for sgd, without nesterov and weight_decay");
  if (o.schedule.kind != "constant" || o.schedule.warmup != 0 || !(o.lr > 0))
    refuse(fleet, "train.optimizer.schedule", "is for a constant rate above 0, without warmup");
  if (fleet.fleet.local_steps != 1) refuse(fleet, "train.local_steps", "is for one local step");
  if (fleet.rounds == std::numeric_limits<Round>::max())
    refuse(fleet, "stop", "needs to know the end: give stop.rounds or stop.epochs");
}

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

/// The short training.
class Trial {
 public:
  Trial(const Assembly& fleet, const Progress& progress, double flops)
      : fleet_(fleet), progress_(progress), flops_(flops) {
    const PeerId n = fleet.fleet.trainers();
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
    const double age = time_ > 0 ? time_ : looked_at[0] * result_.horizon / 2;
    const CalibrationOptions options{.batch = batch_,
                                     .curvature_samples = scaled(4096, point_flops / 200, 256),
                                     .draws = scaled(512, point_flops / (4 * batch_), 64),
                                     .age = age};
    FleetCalibration::Point point{time_, age, {}, {}};
    try {
      point.at = gv::calibrate(fresh_, x_, options, Rng(fleet_.fleet.seed).derive("calibration"));
    } catch (const std::invalid_argument& e) {
      refuse(fleet_, "train.batch", fmt::format("impossible: {}", e.what()));
    }
    const PeerId n = fleet_.fleet.trainers();
    point.model = local_model(point.at, n, fresh_.size());
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

}  // namespace

FleetCalibration calibrate(const Assembly& fleet, const Progress& progress, double flops) {
  check(fleet);
  return Trial(fleet, progress, flops).run();
}

double noise_scale(const FleetCalibration::Point& point, std::uint32_t batch) {
  return batch * point.at.noise / point.at.gradient_square;
}

}  // namespace gv
