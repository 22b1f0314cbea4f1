#include "peer/study/predict/calibrate/fleet_calibration.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

#include "peer/study/predict/calibrate/calibrated_forecast.h"

namespace gv {
namespace {

using Clock = std::chrono::steady_clock;
using Progress = std::function<void(const std::string&)>;

constexpr PeerId most_peers = 64;  ///< most peers measured
constexpr double point_flops = 6e10;
constexpr std::array<double, 4> looked_at{1.0 / 64, 1.0 / 16, 1.0 / 4, 1.0};  ///< parts of horizon
constexpr double backward_flops = 1e12;  ///< work for the backward pass
constexpr double between_nodes = 12;     ///< times 1 / L: training time between two nodes
constexpr double fewest_nodes = 6;       ///< minimum nodes between two measured points
constexpr std::size_t krylov_steps = 8;

[[noreturn]] void refuse_key(const Assembly& fleet,
                             const std::string& key,
                             const std::string& what) {
  throw FleetError(fleet.fleet.path, {{.where = fleet.fleet.path + ": " + key,
                                       .message = "calibration " + what,
                                       .source = "",
                                       .help = ""}});
}

/// Returns the schedule of a D-PSGD peer, which takes one step per round.
LearningRate schedule_of(const Assembly& fleet) {
  LearningRate schedule = fleet.fleet.optimizer.schedule;
  schedule.total = fleet.rounds;
  schedule.peers = fleet.fleet.trainers();
  return schedule;
}

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

/// Returns the minibatch size whose gradient has the mean noise of all peers' gradients.
std::uint32_t mean_batch(const Fleet& fleet) {
  double noise = 0;
  for (PeerId i = 0; i < fleet.trainers(); ++i) noise += 1.0 / fleet.peers[i].batch;
  return static_cast<std::uint32_t>(std::lround(fleet.trainers() / noise));
}

/// The short training run.
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
    batch_ = mean_batch(fleet.fleet);
    x_.resize(fleet.dimension);
    if (fleet.start.empty())
      fresh_[0]->initialize(x_, Rng(fleet.fleet.seed).derive("init"));
    else
      std::ranges::copy(fleet.start, x_.begin());
    result_.horizon = course_of(fleet).time(fleet.rounds);
  }

  FleetCalibration run() {
    const Clock::time_point begin = Clock::now();
    result_.step_seconds = measure_step();
    pass();
    for (const double part : looked_at) {
      if (!advance(part * result_.horizon)) break;
      pass();
    }
    for (std::size_t k = 0; k < passed_.size(); ++k) looks_.emplace_back();
    go_back();
    for (std::size_t k = 0; k < passed_.size(); ++k) look(k);
    std::ranges::stable_sort(result_.curve, {}, &FleetCalibration::Loss::time);
    result_.seconds = seconds_since(begin);
    return std::move(result_);
  }

 private:
  std::uint32_t scaled(double most, double flops, double least) const {
    return static_cast<std::uint32_t>(std::clamp(flops / sample_flops_, least, most));
  }

  /// Marks a point to be measured after the backward pass.
  void pass() {
    progress_(fmt::format("calibrating: training time {:.3g} of {:.3g}", time_, result_.horizon));
    Rng rng = Rng(fleet_.fleet.seed).derive("curvature");
    const std::uint32_t samples = scaled(4096, point_flops / 200, 256);
    curvature_ = largest_curvature(fresh_, x_, samples, rng);
    passed_.push_back(nodes_.size());
    nodes_.push_back({time_, x_});
  }

  /// Returns the samples per peer for the backward pass: all, or as many as the work allows.
  std::uint32_t samples_back() const {
    double passes = static_cast<double>(nodes_.size());
    for (const std::size_t last : passed_) passes += 2 * krylov_steps * static_cast<double>(last);
    const double affordable =
        backward_flops / (passes * sample_flops_ * static_cast<double>(fresh_.size()));
    const double all = fresh_[0]->samples();
    return static_cast<std::uint32_t>(std::clamp(affordable, std::min(all, 1.0 * batch_), all));
  }

  void go_back() {
    if (fresh_.size() < 2 || fresh_[0]->samples() == 0 || passed_.size() < 2) return;
    FrozenGradient gradient(fresh_, samples_back());
    for (const DescentNode& node : nodes_) {
      const Doubles g = gradient.at(node.x);
      result_.slopes.push_back({node.time, dot(g, g)});
    }
    const AdjointPass pass(
        nodes_, [&](const std::vector<float>& x) { return gradient.at(x); }, krylov_steps);
    std::vector<double> points;
    for (std::size_t k = 0; k < passed_.size(); ++k) {
      progress_(
          fmt::format("calibrating: back from training time {:.3g}", nodes_[passed_[k]].time));
      points.push_back(nodes_[passed_[k]].time);
      AdjointPass::Backward back = pass.back_from(passed_[k], points);
      slopes_.push_back(dot(back.at_end, back.at_end));
      for (std::size_t j = 0; j <= k; ++j) looks_[j].push_back(std::move(back.integrals[j]));
    }
  }

  void look(std::size_t k) {
    const DescentNode& node = nodes_[passed_[k]];
    progress_(fmt::format("calibrating: looking at training time {:.3g}", node.time));
    const double age = node.time > 0 ? node.time : looked_at[0] * result_.horizon / 2;
    const CalibrationOptions options{.batch = batch_,
                                     .curvature_samples = scaled(4096, point_flops / 200, 256),
                                     .drift_samples = scaled(8192, point_flops / 40, 256),
                                     .draws = scaled(512, point_flops / (4 * batch_), 64),
                                     .age = age,
                                     .adjoints = looks_[k]};
    FleetCalibration::Point point{node.time, age, {}, {}};
    try {
      point.at =
          gv::calibrate(fresh_, node.x, options, Rng(fleet_.fleet.seed).derive("calibration"));
    } catch (const std::invalid_argument& e) {
      refuse_key(fleet_, "train.batch", fmt::format("impossible: {}", e.what()));
    }
    const PeerId n = fleet_.fleet.trainers();
    point.model = local_model(point.at, n, fresh_.size());
    if (fresh_.size() < n) spread_over(point.model, fresh_.size(), n);
    if (!slopes_.empty()) point.slope = slopes_[k];
    result_.curve.push_back({node.time, point.at.loss});
    result_.points.push_back(std::move(point));
  }

  /// Takes steps of at most 0.6 / L and a sixtieth of the way, on all samples or as many as the
  /// work allows: minibatch noise would end up in the sharpest axes, whose curvature changes most.
  /// Returns false if the work did not suffice.
  bool advance(double until) {
    const double l = std::max(curvature_, 1e-12);
    const double way = until - time_;
    const double rate = std::min(0.6 / l, way / 60);
    const double steps = std::ceil(way / rate - 1e-9);
    const double shares = way / result_.horizon;
    const auto n = static_cast<double>(moving_.size());
    const double affordable = flops_ * shares / (steps * sample_flops_ * n);
    const double most = moving_[0]->samples() > 0 ? 1.0 * moving_[0]->samples() : 4096 / n;
    const double least = std::min(most, static_cast<double>(batch_));
    const auto batch = static_cast<std::uint32_t>(std::clamp(affordable, least, most));
    std::vector<double> g(x_.size());
    std::vector<double> x(x_.begin(), x_.end());
    const double apart = std::min(between_nodes / l, way / fewest_nodes);
    const double begin = time_;
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
      time_ = begin + way * (step + 1) / steps;
      if (time_ >= nodes_.back().time + apart && step + 1 < steps) nodes_.push_back({time_, x_});
    }
    smooth_losses();
    time_ = until;
    return true;
  }

  /// Adds means of a few consecutive minibatch losses to the curve.
  void smooth_losses() {
    const std::size_t together = std::max<std::size_t>(1, losses_.size() / 60);
    for (std::size_t k = 0; k + together <= losses_.size(); k += together) {
      FleetCalibration::Loss mean;
      for (std::size_t j = k; j < k + together; ++j) {
        mean.time += losses_[j].time / static_cast<double>(together);
        mean.loss += losses_[j].loss / static_cast<double>(together);
      }
      result_.curve.push_back(mean);
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
  double time_ = 0;
  double curvature_ = 0;                     ///< L at the last point
  std::vector<DescentNode> nodes_;           ///< nodes along the way
  std::vector<std::size_t> passed_;          ///< nodes to be measured
  std::vector<double> slopes_;               ///< |grad f|^2 at these nodes
  std::vector<std::vector<Doubles>> looks_;  ///< at these: integrals of its and later adjoints
  std::vector<FleetCalibration::Loss> losses_;
  FleetCalibration result_;
};

constexpr double gradient_reach = 0.05;  ///< |e v| in (grad f(x + e v) - grad f(x - e v)) / 2 e

std::vector<float> displaced(const std::vector<float>& x, double factor, const Doubles& v) {
  std::vector<float> there = x;
  for (std::size_t k = 0; k < v.size(); ++k) there[k] += static_cast<float>(factor * v[k]);
  return there;
}

Doubles product(const FullGradient& gradient, const std::vector<float>& x, const Doubles& v) {
  const double length = std::sqrt(dot(v, v));
  if (length == 0) return Doubles(v.size());
  const double e = gradient_reach / length;
  Doubles image = gradient(displaced(x, e, v));
  add_scaled(image, -1, gradient(displaced(x, -e, v)));
  for (double& value : image) value /= 2 * e;
  return image;
}

std::vector<float> middle(const std::vector<float>& a, const std::vector<float>& b) {
  std::vector<float> x(a.size());
  for (std::size_t k = 0; k < x.size(); ++k) x[k] = (a[k] + b[k]) / 2;
  return x;
}

}  // namespace

std::string not_calibrated(const Assembly& fleet) {
  const OptimizerSpec& o = fleet.fleet.optimizer;
  const bool sums = fleet.algorithm->kind == "all-reduce" && fleet.traffic().plain() &&
                    fleet.fleet.data_servers == 0;
  if (fleet.fleet.parallel) return "the theory covers peers with whole models, not chains";
  if (fleet.fleet.agent)
    return "an agent's loss changes with what it has seen: `simulate` measures its rounds";
  if (!fleet.is_plain_d_psgd() && !sums)
    return fmt::format("the theory covers d-psgd and all-reduce, not {}", fleet.algorithm->kind);
  if (fleet.schedule) return "the theory covers one fixed W, not a graph that changes";
  if (o.kind != "sgd")
    return fmt::format(
        "the theory covers SGD: {} divides each coordinate's step by what it "
        "has seen of its gradients",
        o.kind);
  if (o.weight_decay != 0) return "weight decay adds a loss of its own, which is not measured";
  if (o.clip_norm > 0) return "the theory covers unchanged gradients, and `clip_norm` is set";
  if (!(o.lr > 0)) return "the rate is 0";
  if (fleet.fleet.local_steps != 1) return "the theory covers one local step per round";
  if (fleet.rounds == std::numeric_limits<Round>::max())
    return "the end is not known: give stop.rounds or stop.epochs";
  return "";
}

RateCourse course_of(const Assembly& fleet) {
  const LearningRate schedule = schedule_of(fleet);
  const double lr = fleet.fleet.optimizer.lr;
  return {[&](std::uint64_t t) { return schedule.rate(lr, {t}); }, fleet.rounds,
          fleet.fleet.optimizer.momentum};
}

FleetCalibration calibrate(const Assembly& fleet, const Progress& progress, double flops) {
  const std::string why = not_calibrated(fleet);
  if (!why.empty()) throw std::invalid_argument("calibration: " + why);
  return Trial(fleet, progress, flops).run();
}

double noise_scale(const FleetCalibration::Point& point, std::uint32_t batch) {
  return batch * point.at.noise / point.at.gradient_square;
}

AdjointPass::AdjointPass(std::span<const DescentNode> nodes,
                         FullGradient gradient,
                         std::size_t steps)
    : nodes_(nodes), gradient_(std::move(gradient)), steps_(steps) {}

AdjointPass::Backward AdjointPass::back_from(std::size_t last,
                                             std::span<const double> points) const {
  Backward back{.at_end = gradient_(nodes_[last].x), .at_start = {}, .integrals = {}};
  back.integrals.assign(points.size(), Doubles(back.at_end.size()));
  Doubles lambda = back.at_end;
  for (std::size_t node = last; node > 0; --node) {
    const DescentNode& from = nodes_[node - 1];
    const double length = nodes_[node].time - from.time;
    const std::vector<float> x = middle(from.x, nodes_[node].x);
    const SymmetricProduct hessian = [&](const Doubles& v) { return product(gradient_, x, v); };
    const LeadingPairs pairs = ritz_pairs(hessian, lambda, steps_);
    Doubles earlier(lambda.size());
    Doubles integral(lambda.size());
    for (std::size_t k = 0; k < pairs.values.size(); ++k) {
      const double h = pairs.values[k];
      const double part = dot(pairs.vectors[k], lambda);
      const double lasted = std::abs(h * length) < 1e-9 ? length : -std::expm1(-h * length) / h;
      add_scaled(earlier, part * std::exp(-h * length), pairs.vectors[k]);
      add_scaled(integral, part * lasted, pairs.vectors[k]);
    }
    const Between at = between_points(points, from.time + length / 2);
    add_scaled(back.integrals[at.point], 1 - at.weight, integral);
    if (at.weight > 0) add_scaled(back.integrals[at.point + 1], at.weight, integral);
    lambda = std::move(earlier);
  }
  back.at_start = std::move(lambda);
  return back;
}

}  // namespace gv
