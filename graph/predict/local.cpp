#include "graph/predict/local.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <stdexcept>
#include <utility>

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

}  // namespace

LocalPredictor::LocalPredictor(PullModes modes, LocalModel model)
    : modes_(std::move(modes)), model_(std::move(model)) {
  if (model_.peers != modes_.peers())
    throw std::invalid_argument("predict_local: the model has other peers than W");
  for (const LocalModel::Pull& pull : model_.pulls) powers_.push_back(modes_.powers(pull.gram));
  for (const CurvatureShare& s : model_.noise) least_ = std::max(least_, flat * s.curvature);
}

double LocalPredictor::clamp_curvature(double curvature) const {
  return std::max(curvature, least_);
}

LocalPredictor::Power LocalPredictor::noise_of(std::size_t share,
                                               const QuadraticFleet& f,
                                               std::uint64_t rounds) const {
  const double h = clamp_curvature(model_.noise[share].curvature);
  const double variance = model_.noise[share].value;
  Power power;
  for (const Mode& mode : modes_.modes()) {
    const ModeRound round = round_of(f, mode.values[0], h, false);
    power.others += variance * mode.count * noise_power(round, model_.epoch, rounds);
  }
  power.mean = variance * noise_power(round_of(f, 1, h, true), model_.epoch, rounds);
  return power;
}

double LocalPredictor::pull_of(std::size_t pull,
                               const CurvatureShare& share,
                               const QuadraticFleet& f,
                               std::uint64_t rounds) const {
  const double h = clamp_curvature(share.curvature);
  double others = 0;
  for (std::size_t j = 0; j < powers_[pull].size(); ++j) {
    const ModeRound round = round_of(f, modes_.modes()[j].values[0], h, false);
    others += share.value * powers_[pull][j] * pull_power(round, h, rounds);
  }
  return others;
}

void LocalPredictor::add_noise(Stationary& s, const QuadraticFleet& f, std::uint64_t rounds) const {
  for (std::size_t k = 0; k < model_.noise.size(); ++k) {
    const Power power = noise_of(k, f, rounds);
    add_power(
        s, model_.peers, clamp_curvature(model_.noise[k].curvature), power.others, power.mean);
  }
}

void LocalPredictor::add_pulls(Stationary& s, const QuadraticFleet& f, std::uint64_t rounds) const {
  for (std::size_t p = 0; p < powers_.size(); ++p)
    for (const CurvatureShare& share : model_.pulls[p].measure)
      add_power(s, model_.peers, clamp_curvature(share.curvature), pull_of(p, share, f, rounds), 0);
}

/// Of the displacement where a gradient is taken, per unit of a pull against it: what batches of
/// the same epoch would have, were samples drawn anew. Peers draw independently, so the mean's mode
/// counts too: a sampled d_i is 1 - 1 / n of such a pull, in the modes but the mean's.
double LocalPredictor::cancelled(double h, const QuadraticFleet& f) const {
  const auto epoch = static_cast<std::uint64_t>(std::round(model_.epoch));
  const auto within = [&](const ModeRound& round) {
    Vector x = Vector::Zero(round.m.rows());  // of the batches that this epoch has seen
    Complex sum = 0;
    for (std::uint64_t r = 0; r < epoch; ++r) {
      sum += x[0] / static_cast<double>(epoch);
      x = (round.m * x + round.c / clamp_curvature(h)).eval();
    }
    return sum.real();
  };
  double sum = within(round_of(f, 1, clamp_curvature(h), true));
  for (const Mode& mode : modes_.modes())
    sum += mode.count * within(round_of(f, mode.values[0], clamp_curvature(h), false));
  return model_.drift.sampled * sum / (model_.peers - 1.0);
}

void LocalPredictor::add_lasting(std::vector<double>& push, const QuadraticFleet& f) const {
  const std::vector<LocalModel::Drift::Lasting>& table = model_.drift.lasting;
  if (table.empty()) return;
  double count = 0;
  for (const Mode& mode : modes_.modes()) count += mode.count;
  for (const Mode& mode : modes_.modes()) {
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
    for (std::size_t a = 0; a < push.size(); ++a) {
      const double slope =
          (1 - weight) * low.push[a] / low.memory + weight * high.push[a] / high.memory;
      push[a] += mode.count / count * memory * slope;
    }
  }
}

bool LocalPredictor::is_unstable(double h, const QuadraticFleet& f) const {
  return grows(round_of(f, 1, clamp_curvature(h), true)) ||
         std::ranges::any_of(modes_.modes(), [&](const Mode& mode) {
           return grows(round_of(f, mode.values[0], clamp_curvature(h), false));
         });
}

std::vector<double> LocalPredictor::push(const QuadraticFleet& fleet, std::uint64_t rounds) const {
  QuadraticFleet f = fleet;
  f.local_steps = 1;
  f.staleness = 0;
  if (f.order == "cta") f.order = "atc";  // the same gradients, and averaging half a round later
  const LocalModel::Drift& drift = model_.drift;
  std::vector<double> push(drift.axes.size());
  if (drift.axes.empty() || modes_.modes().empty()) return push;
  const std::size_t last = drift.sources.size() - 1;
  for (std::size_t k = 0; k < model_.noise.size(); ++k) {
    if (is_unstable(model_.noise[k].curvature, f)) continue;
    const Power power = noise_of(k, f, rounds);
    const double variance = (power.others + power.mean) / model_.peers;
    for (std::size_t a = 0; a < push.size(); ++a)
      push[a] += variance * drift.sources[std::min(k, last)].of_variance[a];
  }
  for (std::size_t p = 0; p < model_.pulls.size(); ++p) {
    double back = 0;
    for (const CurvatureShare& share : model_.pulls[p].measure)
      back += share.value * cancelled(share.curvature, f);
    for (std::size_t a = 0; a < push.size(); ++a)
      push[a] += back * drift.sources[std::min(p, last)].of_deviation[a];
  }
  add_lasting(push, f);
  return push;
}

Stationary LocalPredictor::after(const QuadraticFleet& fleet, std::uint64_t rounds) const {
  QuadraticFleet f = fleet;
  f.local_steps = 1;
  f.staleness = 0;
  Stationary s;
  add_noise(s, f, rounds);
  add_pulls(s, f, rounds);
  return s;
}

}  // namespace gv
