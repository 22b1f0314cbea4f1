#include "graph/predict_local.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <utility>

#include <Eigen/Dense>
#include <Eigen/Eigenvalues>

#include "graph/dense.h"
#include "graph/mode_recursion.h"

namespace gv {
namespace {

using Complex = std::complex<double>;
using Matrix = ModeRound::Matrix;
using Vector = ModeRound::Vector;

constexpr double infinite = std::numeric_limits<double>::infinity();
constexpr PeerId placed_limit = 256;
constexpr double flat = 1e-9;  ///< of the largest curvature: what counts as flat

/// q = N N^H of rank one: N, up to its phase.
Vector noise_vector(const Matrix& q) {
  Eigen::Index k = 0;
  for (Eigen::Index i = 1; i < q.rows(); ++i)
    if (q(i, i).real() > q(k, k).real()) k = i;
  if (q(k, k).real() <= 0) return Vector::Zero(q.rows());
  return q.col(k) / std::sqrt(q(k, k).real());
}

/// P <- M P M^H + V and x <- M x + c, `times` times from zero, by doubling.
struct Affine {
  Matrix m, v;
  Vector c;
  Affine then(const Affine& next) const {
    return {next.m * m, next.m * v * next.m.adjoint() + next.v, next.m * c + next.c};
  }
};

Affine repeated(Affine once, std::uint64_t times) {
  const Eigen::Index size = once.m.rows();
  Affine all{Matrix::Identity(size, size), Matrix::Zero(size, size), Vector::Zero(size)};
  for (; times > 0; times >>= 1) {
    if (once.m.cwiseAbs().maxCoeff() > 1e60) {  // grows
      all.v.setConstant(infinite);
      all.c.setConstant(infinite);
      return all;
    }
    if (times & 1) all = all.then(once);
    once = once.then(once);
  }
  return all;
}

/// Noise of one minibatch, for each round of an epoch.
class EpochNoise {
 public:
  EpochNoise(const ModeRound& round, std::uint64_t length)
      : length_(length), m_(round.m), step_(noise_vector(round.q)) {}

  /// E |z[0]|^2 at the end of a round, the mean over the rounds of the epoch that follows `whole`
  /// epochs from rest.
  double power_after(std::uint64_t whole) const {
    const Eigen::Index size = m_.rows();
    const Affine epoch{power(length_), covariance(length_), Vector::Zero(size)};
    Matrix p = repeated(epoch, whole).v;  // without the noise of the present epoch
    if (!std::isfinite(p(0, 0).real())) return infinite;
    Matrix within = Matrix::Zero(size, size);
    Vector sum = Vector::Zero(size);
    Vector newest = step_;
    double total = 0;
    for (std::uint64_t r = 0; r < length_; ++r) {
      p = (m_ * p * m_.adjoint()).eval();
      within += newest * newest.adjoint();
      sum += newest;
      newest = (m_ * newest).eval();
      total += p(0, 0).real() + within(0, 0).real() - std::norm(sum[0]) / real(length_);
    }
    return total / real(length_);
  }

 private:
  static double real(std::uint64_t n) { return static_cast<double>(n); }
  Matrix power(std::uint64_t n) const { return repeated({m_, m_, Vector::Zero(m_.rows())}, n).m; }
  /// sum_s A_s A_s^H - (1 / E) B B^H, A_s = M^s N, B = sum_s A_s.
  Matrix covariance(std::uint64_t n) const {
    Matrix within = Matrix::Zero(m_.rows(), m_.rows());
    Vector sum = Vector::Zero(m_.rows());
    Vector newest = step_;
    for (std::uint64_t s = 0; s < n; ++s) {
      within += newest * newest.adjoint();
      sum += newest;
      newest = (m_ * newest).eval();
    }
    return within - sum * sum.adjoint() / real(n);
  }

  std::uint64_t length_;
  Matrix m_;
  Vector step_;
};

/// Sum over r = 1 .. t of q^r.
template <class Number>
Number powers_sum(Number q, double t) {
  return q * (1.0 - std::pow(q, t)) / (1.0 - q);
}

/// EpochNoise::power_after of a scalar round z <- a z + c xi, summed in closed form.
double scalar_power(Complex a, double c2, double epoch, std::uint64_t whole) {
  const double square = std::norm(a);
  const double left = std::pow(square, epoch);
  const double alone = (1 - left) / (1 - square);  // of the white part, after an epoch
  const Complex last = std::pow(a, epoch);
  const double slope = std::norm(1.0 - a);
  const double one = alone - std::norm(1.0 - last) / (slope * epoch);
  const double all = one * (1 - std::pow(left, static_cast<double>(whole))) / (1 - left);
  const double squares = powers_sum(square, epoch);
  const double white = (epoch - squares) / (1 - square);
  const double mean = (epoch - 2 * powers_sum(a, epoch).real() + squares) / (slope * epoch);
  return c2 * (all * squares + white - mean) / epoch;
}

bool grows(const ModeRound& round) {
  const Matrix still = Matrix::Zero(round.m.rows(), round.m.rows());
  const Affine far = repeated({round.m, still, Vector::Zero(round.m.rows())}, 1 << 12);
  return !std::isfinite(far.c[0].real()) || far.m.cwiseAbs().maxCoeff() > 1;
}

/// E |z[0]|^2 per unit of the noise's variance.
double noise_power(const ModeRound& round, double epoch, std::uint64_t rounds) {
  if (epoch <= 0)
    return repeated({round.m, round.q, Vector::Zero(round.m.rows())}, rounds).v(0, 0).real();
  const auto length = static_cast<std::uint64_t>(std::max(1.0, std::round(epoch)));
  const Complex a = round.m(0, 0);
  const bool safe = std::abs(1.0 - a) * static_cast<double>(length) > 1e-3;  // from cancellation
  if (round.m.rows() == 1 && safe && std::abs(a) < 1)
    return scalar_power(a, round.q(0, 0).real(), static_cast<double>(length), rounds / length);
  return EpochNoise(round, length).power_after(rounds / length);
}

/// |z[0]|^2 per unit of |G|^2: the peers' minima lie at -G / h of where the gradients are G.
double pull_power(const ModeRound& round, double h, std::uint64_t rounds) {
  const Eigen::Index size = round.m.rows();
  if (size == 1 && std::abs(1.0 - round.m(0, 0)) > 1e-6) {
    const Complex a = round.m(0, 0);
    const Complex sum = (1.0 - std::pow(a, static_cast<double>(rounds))) / (1.0 - a);
    return std::norm(round.c[0] / h * sum);
  }
  return std::norm(repeated({round.m, Matrix::Zero(size, size), round.c / h}, rounds).c[0]);
}

void add_power(Stationary& s, double n, double h, double others, double mean) {
  s.consensus.value += others / n;
  s.excess_mean.value += h * mean / (2 * n);
  s.excess_local.value += h * (others + mean) / (2 * n);
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

LocalPredictor::LocalPredictor(PullModes modes, LocalModel model)
    : modes_(std::move(modes)), model_(std::move(model)) {
  if (model_.peers != modes_.peers())
    throw std::invalid_argument("predict_local: the model has other peers than W");
  for (const LocalModel::Pull& pull : model_.pulls) powers_.push_back(modes_.powers(pull.gram));
  for (const CurvatureShare& s : model_.noise) least_ = std::max(least_, flat * s.curvature);
}

double LocalPredictor::bent(double curvature) const {
  return std::max(curvature, least_);
}

LocalPredictor::Power LocalPredictor::noise_of(std::size_t share,
                                               const QuadraticFleet& f,
                                               std::uint64_t rounds) const {
  const double h = bent(model_.noise[share].curvature);
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
  const double h = bent(share.curvature);
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
    add_power(s, model_.peers, bent(model_.noise[k].curvature), power.others, power.mean);
  }
}

void LocalPredictor::add_pulls(Stationary& s, const QuadraticFleet& f, std::uint64_t rounds) const {
  for (std::size_t p = 0; p < powers_.size(); ++p)
    for (const CurvatureShare& share : model_.pulls[p].measure)
      add_power(s, model_.peers, bent(share.curvature), pull_of(p, share, f, rounds), 0);
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
      x = (round.m * x + round.c / bent(h)).eval();
    }
    return sum.real();
  };
  double sum = within(round_of(f, 1, bent(h), true));
  for (const Mode& mode : modes_.modes())
    sum += mode.count * within(round_of(f, mode.values[0], bent(h), false));
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

bool LocalPredictor::shakes(double h, const QuadraticFleet& f) const {
  return grows(round_of(f, 1, bent(h), true)) ||
         std::ranges::any_of(modes_.modes(), [&](const Mode& mode) {
           return grows(round_of(f, mode.values[0], bent(h), false));
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
    if (shakes(model_.noise[k].curvature, f)) continue;
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
