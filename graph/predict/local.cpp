#include "graph/predict/local.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>

#include <Eigen/Dense>
#include <Eigen/Eigenvalues>

#include "graph/mixing/dense_eigen.h"
#include "graph/predict/mode_recursion.h"

namespace gv {
namespace {

using Complex = std::complex<double>;

constexpr PeerId placed_limit = 256;

constexpr double same_stretch = 0.05;  ///< tolerance of a stretch, relative to its largest rate
constexpr double nothing = 0.001;      ///< negligible rate, relative to the run's largest

using Vector = ModeRound::Vector;

constexpr double flat = 1e-9;  ///< limit of flat curvatures, relative to the largest

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

PullModes::PullModes(const MixingMatrix& w) : peers_(w.size()) {
  const bool placed = w.size() <= placed_limit;
  if (!placed || w.size() == 1) {
    if (w.size() > 1) modes_ = modes_of(w).samples[0];
    return;
  }
  const Eigen::MatrixXd m = dense_matrix(w);
  const Eigen::MatrixXd commutator = m * m.transpose() - m.transpose() * m;
  if (commutator.cwiseAbs().maxCoeff() > 1e-10)
    throw std::invalid_argument(
        "predict_local: this directed W is not normal: no orthogonal modes");
  // A normal matrix is diagonal in its Schur basis. The mean's mode is moved from 1 to 3.
  const Eigen::MatrixXd shifted = m.array() + 2.0 / w.size();
  const Eigen::ComplexSchur<Eigen::MatrixXcd> schur(shifted.cast<Complex>());
  for (Eigen::Index j = 0; j < m.rows(); ++j) {
    const Complex lambda = schur.matrixT()(j, j);
    if (lambda.real() > 2) continue;
    modes_.push_back({{lambda}, 1});
    for (Eigen::Index i = 0; i < m.rows(); ++i) vectors_.push_back(schur.matrixU()(i, j));
  }
}

PullModes PullModes::exact_averaging(PeerId n) {
  return {n, {{{0.0}, n - 1.0}}};
}

std::vector<double> PullModes::powers(const std::vector<double>& gram) const {
  const std::size_t n = peers_;
  std::vector<double> result;
  if (vectors_.empty()) {
    double trace = 0;
    for (std::size_t i = 0; i < n; ++i) trace += gram[i * n + i];
    for (const Mode& mode : modes_)
      result.push_back(mode.count * trace / (static_cast<double>(n) - 1));
    return result;
  }
  for (std::size_t j = 0; j < modes_.size(); ++j) {
    const Complex* q = vectors_.data() + j * n;
    Complex sum = 0;
    for (std::size_t a = 0; a < n; ++a) {
      Complex row = 0;
      for (std::size_t b = 0; b < n; ++b) row += gram[a * n + b] * q[b];
      sum += std::conj(q[a]) * row;
    }
    result.push_back(std::max(0.0, sum.real()));
  }
  return result;
}

RateCourse::RateCourse(double rate, double momentum)
    : RateCourse([rate](std::uint64_t) { return rate; }, 1, momentum) {}

RateCourse::RateCourse(const std::function<double(std::uint64_t)>& rate,
                       std::uint64_t rounds,
                       double momentum)
    : momentum_(momentum) {
  for (std::uint64_t t = 0; t < std::max<std::uint64_t>(1, rounds); ++t) rates_.push_back(rate(t));
  const bool same = std::ranges::all_of(rates_, [&](double r) { return r == rates_[0]; });
  if (same) rates_.resize(1);
  largest_ = std::ranges::max(rates_);
  double sum = 0;
  double left = 1;  // beta^t
  for (const double r : rates_) {
    left *= momentum;
    sum += r * (1 - left) / (1 - momentum);
    times_.push_back(sum);
  }
}

double RateCourse::rate(std::uint64_t round) const {
  return rates_[std::min<std::uint64_t>(round, rates_.size() - 1)];
}

double RateCourse::time(std::uint64_t rounds) const {
  if (rounds == 0) return 0;
  if (rounds <= times_.size()) return times_[rounds - 1];
  // The last rate stays, and momentum continues to build up.
  const auto known = static_cast<double>(times_.size());
  const auto all = static_cast<double>(rounds);
  const double missing =
      (std::pow(momentum_, known + 1) - std::pow(momentum_, all + 1)) / (1 - momentum_);
  return times_.back() + rates_.back() / (1 - momentum_) * (all - known - missing);
}

std::uint64_t RateCourse::rounds_until(double wanted) const {
  if (!(wanted > 0)) return 0;
  const double least = wanted * (1 - 1e-6);
  std::uint64_t high = 1;
  while (time(high) < least && high < (std::uint64_t{1} << 60)) high *= 2;
  std::uint64_t low = 0;
  while (high - low > 1) {
    const std::uint64_t middle = low + (high - low) / 2;
    (time(middle) < least ? low : high) = middle;
  }
  return high;
}

void RateCourse::divide(std::uint64_t begin,
                        std::uint64_t end,
                        std::uint64_t unit,
                        std::vector<RateStretch>& found) const {
  const auto last = rates_.size() - 1;
  const auto from = rates_.begin() + static_cast<std::ptrdiff_t>(std::min(begin, last));
  const auto to = rates_.begin() + static_cast<std::ptrdiff_t>(std::min(end - 1, last)) + 1;
  const auto [least, most] = std::minmax_element(from, to);
  if (*most - *least > std::max(same_stretch * *most, nothing * largest_) && end - begin > unit) {
    const std::uint64_t middle =
        begin + std::max<std::uint64_t>(1, (end - begin) / unit / 2) * unit;
    divide(begin, middle, unit, found);
    divide(middle, end, unit, found);
    return;
  }
  const double known = static_cast<double>(to - from);
  const double beyond = static_cast<double>(end - begin) - known;
  const double sum = std::accumulate(from, to, 0.0) + beyond * rates_.back();
  found.push_back({sum / static_cast<double>(end - begin), end - begin});
}

std::vector<RateStretch> RateCourse::stretches(std::uint64_t rounds, std::uint64_t unit) const {
  std::vector<RateStretch> found;
  const std::uint64_t whole = rounds / unit * unit;
  if (whole > 0) divide(0, whole, unit, found);
  return found;
}

LocalPredictor::LocalPredictor(PullModes modes, LocalModel model)
    : modes_(std::move(modes)), distinct_(distinct(modes_.modes())), model_(std::move(model)) {
  if (model_.peers != modes_.peers())
    throw std::invalid_argument("predict_local: the model and W have different numbers of peers");
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

/// Returns the displacement by a pull, per unit: the mean over all modes except the mean's.
double LocalPredictor::response(double h, const Moment& m) const {
  double sum = 0;
  for (const Mode& mode : distinct_)
    sum +=
        mode.count * pull_response(way_of(m.fleet, m.rounds, mode.values[0], h, false), h).real();
  return sum / (model_.peers - 1.0);
}

/// Returns the part of the displacement at a gradient, per unit of a pull against it, that
/// batches of the same epoch would contribute if samples were drawn again. Peers draw
/// independently, so the mean's mode counts too: a sampled d_i is 1 - 1 / n of such a pull in the
/// other modes.
double LocalPredictor::cancelled(double h, const QuadraticFleet& f) const {
  const auto epoch = static_cast<std::uint64_t>(std::round(model_.epoch));
  const auto within = [&](const ModeRound& round) {
    Vector x = Vector::Zero(round.m.rows());  // displacement by the batches of this epoch
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

/// Returns the largest curvature, h at most, at which no mode grows.
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
    const auto between = [&](double a, double b, double power) {  // proportional to a power
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
