#include "graph/predict/local.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <stdexcept>
#include <utility>
#include <vector>

#include <Eigen/Dense>

#include "graph/predict/driven_mode.h"
#include "graph/predict/mode_recursion.h"

namespace gv {
namespace {

using Complex = std::complex<double>;
using Vector = ModeRound::Vector;

constexpr double flat = 1e-9;  ///< of the largest curvature: what counts as flat

void add_power(Stationary& s, double n, double h, double others, double mean) {
  s.consensus.value += others / n;
  s.excess_mean.value += h * mean / (2 * n);
  s.excess_local.value += h * (others + mean) / (2 * n);
}

/// Equal eigenvalues together.
std::vector<Mode> distinct(const std::vector<Mode>& modes) {
  std::vector<Mode> found;
  for (const Mode& mode : modes) {
    const auto same = std::ranges::find_if(found, [&](const Mode& other) {
      return std::abs(other.values[0] - mode.values[0]) < 1e-12;
    });
    if (same == found.end()) {
      found.push_back(mode);
    } else {
      same->count += mode.count;
    }
  }
  return found;
}

ModeWay way_of(const QuadraticFleet& fleet,
               const std::vector<RateStretch>& stretches,
               Complex lambda,
               double h,
               bool mean) {
  QuadraticFleet f = fleet;
  ModeWay way{.stretches = {}, .now = round_of(f, lambda, h, mean)};
  for (const RateStretch& s : stretches) {
    f.rate = s.rate;
    way.stretches.push_back({round_of(f, lambda, h, mean), s.rounds});
  }
  return way;
}

}  // namespace

LocalPredictor::LocalPredictor(PullModes modes, LocalModel model)
    : modes_(std::move(modes)), distinct_(distinct(modes_.modes())), model_(std::move(model)) {
  if (model_.peers != modes_.peers())
    throw std::invalid_argument("predict_local: the model has other peers than W");
  for (const LocalModel::Pull& pull : model_.pulls) powers_.push_back(modes_.powers(pull.gram));
  for (const CurvatureShare& s : model_.noise) least_ = std::max(least_, flat * s.curvature);
}

double LocalPredictor::clamp_curvature(double curvature) const {
  return std::max(curvature, least_);
}

LocalPredictor::Moment LocalPredictor::moment(const QuadraticFleet& f,
                                              const RateCourse& course,
                                              std::uint64_t rounds) const {
  Moment m{.fleet = f, .epochs = {}, .rounds = course.stretches(rounds, 1)};
  m.fleet.local_steps = 1;
  m.fleet.staleness = 0;
  m.fleet.rate = course.rate(rounds > 0 ? rounds - 1 : 0);
  m.epoch_batches = model_.epoch;
  m.epochs = model_.epoch > 0 ? course.stretches(rounds, epoch_rounds(model_.epoch)) : m.rounds;
  return m;
}

LocalPredictor::Power LocalPredictor::noise_of(std::size_t share, const Moment& m, double h) const {
  const double variance = model_.noise[share].value;
  Power power;
  for (const Mode& mode : distinct_) {
    const ModeWay way = way_of(m.fleet, m.epochs, mode.values[0], h, false);
    power.others += variance * mode.count * noise_power(way, m.epoch_batches);
  }
  power.mean = variance * noise_power(way_of(m.fleet, m.epochs, 1, h, true), m.epoch_batches);
  return power;
}

double LocalPredictor::pull_of(std::size_t pull,
                               const CurvatureShare& share,
                               const Moment& m) const {
  const double h = clamp_curvature(share.curvature);
  double others = 0;
  for (std::size_t j = 0; j < powers_[pull].size(); ++j) {
    const ModeWay way = way_of(m.fleet, m.rounds, modes_.modes()[j].values[0], h, false);
    others += share.value * powers_[pull][j] * std::norm(pull_response(way, h));
  }
  return others;
}

void LocalPredictor::add_noise(Stationary& s, const Moment& m) const {
  for (std::size_t k = 0; k < model_.noise.size(); ++k) {
    const double h = clamp_curvature(model_.noise[k].curvature);
    const Power power = noise_of(k, m, h);
    add_power(s, model_.peers, h, power.others, power.mean);
  }
}

void LocalPredictor::add_pulls(Stationary& s, const Moment& m) const {
  for (std::size_t p = 0; p < powers_.size(); ++p)
    for (const CurvatureShare& share : model_.pulls[p].measure)
      add_power(s, model_.peers, clamp_curvature(share.curvature), pull_of(p, share, m), 0);
}

/// Returns how far a pull has displaced, per unit of it: the mean over the modes but the mean's.
double LocalPredictor::response(double h, const Moment& m) const {
  double sum = 0;
  for (const Mode& mode : distinct_)
    sum +=
        mode.count * pull_response(way_of(m.fleet, m.rounds, mode.values[0], h, false), h).real();
  return sum / (model_.peers - 1.0);
}

/// Gives of the displacement where a gradient is taken, per unit of a pull against it, what batches
/// of the same epoch would have, were samples drawn again. Peers draw independently, so the mean's
/// mode counts too: a sampled d_i is 1 - 1 / n of such a pull, in the modes but the mean's.
double LocalPredictor::cancelled(double h, const QuadraticFleet& f) const {
  const auto epoch = static_cast<std::uint64_t>(std::round(model_.epoch));
  const auto within = [&](const ModeRound& round) {
    Vector x = Vector::Zero(round.m.rows());  // of the batches that this epoch has seen
    Complex sum = 0;
    for (std::uint64_t r = 0; r < epoch; ++r) {
      sum += x[0] / static_cast<double>(epoch);
      x = (round.m * x + round.c / h).eval();
    }
    return sum.real();
  };
  double sum = within(round_of(f, 1, h, true));
  for (const Mode& mode : distinct_)
    sum += mode.count * within(round_of(f, mode.values[0], h, false));
  return sum / (model_.peers - 1.0);
}

/// The largest curvature up to h at which no mode grows.
double LocalPredictor::stable_curvature(double h, const QuadraticFleet& f) const {
  const auto shakes = [&](double at) {
    return grows(round_of(f, 1, at, true)) || std::ranges::any_of(distinct_, [&](const Mode& mode) {
             return grows(round_of(f, mode.values[0], at, false));
           });
  };
  if (!shakes(h)) return h;
  double low = least_;
  double high = h;
  for (int k = 0; k < 40; ++k) {
    const double middle = (low + high) / 2;
    (shakes(middle) ? high : low) = middle;
  }
  return low;
}

void LocalPredictor::add_variance(std::vector<MeanPush>& push, const Moment& m) const {
  const LocalModel::Drift& drift = model_.drift;
  const std::size_t last = drift.sources.size() - 1;
  for (std::size_t k = 0; k < model_.noise.size(); ++k) {
    const double h = stable_curvature(clamp_curvature(model_.noise[k].curvature), m.fleet);
    const Power power = noise_of(k, m, h);
    const double variance = (power.others + power.mean) / model_.peers;
    for (std::size_t a = 0; a < push.size(); ++a)
      push[a].curvature += variance * drift.sources[std::min(k, last)].of_variance[a];
  }
}

void LocalPredictor::add_sampled(std::vector<MeanPush>& push, const Moment& m) const {
  const LocalModel::Drift& drift = model_.drift;
  const std::size_t last = drift.sources.size() - 1;
  const double linear = drift.lasting.empty() ? 1 : drift.sampled;
  for (std::size_t p = 0; p < model_.pulls.size(); ++p) {
    double away = 0;
    double back = 0;
    for (const CurvatureShare& share : model_.pulls[p].measure) {
      const double h = stable_curvature(clamp_curvature(share.curvature), m.fleet);
      away += linear * share.value * response(h, m);
      back += drift.sampled * share.value * cancelled(h, m.fleet);
    }
    for (std::size_t a = 0; a < push.size(); ++a) {
      const double of_unit = drift.sources[std::min(p, last)].of_deviation[a];
      push[a].shares -= away * of_unit;
      push[a].epoch += back * of_unit;
    }
  }
}

void LocalPredictor::add_lasting(std::vector<MeanPush>& push, const QuadraticFleet& f) const {
  const std::vector<LocalModel::Drift::Lasting>& table = model_.drift.lasting;
  if (table.empty()) return;
  double count = 0;
  for (const Mode& mode : distinct_) count += mode.count;
  for (const Mode& mode : distinct_) {
    const Complex lambda = mode.values[0];
    const Complex kept = f.order == "lian" ? 1 : lambda;
    const double memory = (kept * f.rate / (1 - f.momentum) / (1.0 - lambda)).real();
    std::size_t k = 0;
    while (k + 2 < table.size() && table[k + 1].memory < memory) ++k;
    const auto& low = table[k];
    const auto& high = table[std::min(k + 1, table.size() - 1)];
    const double place =
        std::log(std::max(memory, 1e-300) / low.memory) / std::log(high.memory / low.memory);
    const double weight = table.size() == 1 ? 0 : std::clamp(place, 0.0, 1.0);
    const auto between = [&](double a, double b, double power) {  // in proportion to a power of it
      return (1 - weight) * a * std::pow(memory / low.memory, power) +
             weight * b * std::pow(memory / high.memory, power);
    };
    const double rest = 1 - model_.drift.sampled;
    for (std::size_t a = 0; a < push.size(); ++a) {
      push[a].shares += mode.count / count * rest * between(low.odd[a], high.odd[a], 1);
      push[a].second += mode.count / count * between(low.even[a], high.even[a], 2);
    }
  }
}

std::vector<MeanPush> LocalPredictor::push(const QuadraticFleet& fleet,
                                           const RateCourse& course,
                                           std::uint64_t rounds) const {
  std::vector<MeanPush> push(model_.drift.adjoints);
  if (push.empty() || distinct_.empty()) return push;
  Moment m = moment(fleet, course, rounds);
  if (m.fleet.order == "cta") m.fleet.order = "atc";  // the same gradients, half a round later
  add_variance(push, m);
  add_sampled(push, m);
  add_lasting(push, m.fleet);
  return push;
}

std::vector<MeanPush> LocalPredictor::push(const QuadraticFleet& fleet,
                                           std::uint64_t rounds) const {
  return push(fleet, RateCourse(fleet.rate, fleet.momentum), rounds);
}

Stationary LocalPredictor::after(const QuadraticFleet& fleet,
                                 const RateCourse& course,
                                 std::uint64_t rounds) const {
  const Moment m = moment(fleet, course, rounds);
  Stationary s;
  add_noise(s, m);
  add_pulls(s, m);
  return s;
}

Stationary LocalPredictor::after(const QuadraticFleet& fleet, std::uint64_t rounds) const {
  return after(fleet, RateCourse(fleet.rate, fleet.momentum), rounds);
}

}  // namespace gv
