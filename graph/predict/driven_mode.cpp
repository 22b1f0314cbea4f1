#include "graph/predict/driven_mode.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>

#include <Eigen/Dense>

namespace gv {
namespace {

using Complex = std::complex<double>;
using Matrix = ModeRound::Matrix;
using Vector = ModeRound::Vector;

constexpr double infinite = std::numeric_limits<double>::infinity();

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

  /// Returns the covariance after this number of epochs, p being that of now.
  Matrix carried(const Matrix& p, std::uint64_t epochs) const {
    const Affine all = repeated({power(), covariance(), Vector::Zero(m_.rows())}, epochs);
    return all.m * p * all.m.adjoint() + all.v;
  }

  /// Returns E |z[0]|^2 at the end of a round, the mean over the epoch that begins with p.
  double mean_from(Matrix p) const {
    const Eigen::Index size = m_.rows();
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
  Matrix power() const { return repeated({m_, m_, Vector::Zero(m_.rows())}, length_).m; }
  /// sum_s A_s A_s^H - (1 / E) B B^H, A_s = M^s N, B = sum_s A_s.
  Matrix covariance() const {
    Matrix within = Matrix::Zero(m_.rows(), m_.rows());
    Vector sum = Vector::Zero(m_.rows());
    Vector newest = step_;
    for (std::uint64_t s = 0; s < length_; ++s) {
      within += newest * newest.adjoint();
      sum += newest;
      newest = (m_ * newest).eval();
    }
    return within - sum * sum.adjoint() / real(length_);
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

/// EpochNoise of a scalar round z <- a z + c xi, summed in closed form.
class ScalarEpochNoise {
 public:
  ScalarEpochNoise(const ModeRound& round, std::uint64_t length)
      : a_(round.m(0, 0)), c2_(round.q(0, 0).real()), epoch_(static_cast<double>(length)) {}

  /// Returns whether the sums, which are quotients, are free of cancellation.
  bool safe() const { return std::abs(1.0 - a_) * epoch_ > 1e-3 && std::abs(a_) < 1; }

  double carried(double p, std::uint64_t epochs) const {
    const double square = std::norm(a_);
    const double left = std::pow(square, epoch_);
    const double alone = (1 - left) / (1 - square);  // white part, after an epoch
    const Complex last = std::pow(a_, epoch_);
    const double one = c2_ * (alone - std::norm(1.0 - last) / (std::norm(1.0 - a_) * epoch_));
    const double all = std::pow(left, static_cast<double>(epochs));
    return all * p + one * (1 - all) / (1 - left);
  }

  double mean_from(double p) const {
    const double square = std::norm(a_);
    const double squares = powers_sum(square, epoch_);
    const double white = (epoch_ - squares) / (1 - square);
    const double mean =
        (epoch_ - 2 * powers_sum(a_, epoch_).real() + squares) / (std::norm(1.0 - a_) * epoch_);
    return (p * squares + c2_ * (white - mean)) / epoch_;
  }

 private:
  Complex a_;
  double c2_;
  double epoch_;
};

bool is_scalar(const ModeWay& way, std::uint64_t length) {
  if (way.now.m.rows() != 1 || !ScalarEpochNoise(way.now, length).safe()) return false;
  return std::ranges::all_of(way.stretches, [&](const ModeWay::Stretch& s) {
    return ScalarEpochNoise(s.round, length).safe();
  });
}

double fresh_power(const ModeWay& way) {
  const Eigen::Index size = way.now.m.rows();
  Matrix p = Matrix::Zero(size, size);
  for (const ModeWay::Stretch& s : way.stretches) {
    const Affine all = repeated({s.round.m, s.round.q, Vector::Zero(size)}, s.rounds);
    p = (all.m * p * all.m.adjoint() + all.v).eval();
    if (!std::isfinite(p(0, 0).real())) return infinite;
  }
  return p(0, 0).real();
}

}  // namespace

bool grows(const ModeRound& round) {
  const Matrix still = Matrix::Zero(round.m.rows(), round.m.rows());
  const Affine far = repeated({round.m, still, Vector::Zero(round.m.rows())}, 1 << 12);
  return !std::isfinite(far.c[0].real()) || far.m.cwiseAbs().maxCoeff() > 1;
}

std::uint64_t epoch_rounds(double epoch) {
  return static_cast<std::uint64_t>(std::max(1.0, std::round(epoch)));
}

double noise_power(const ModeWay& way, double epoch) {
  if (epoch <= 0) return fresh_power(way);
  const std::uint64_t length = epoch_rounds(epoch);
  if (is_scalar(way, length)) {
    double p = 0;
    for (const ModeWay::Stretch& s : way.stretches)
      p = ScalarEpochNoise(s.round, length).carried(p, s.rounds / length);
    return ScalarEpochNoise(way.now, length).mean_from(p);
  }
  Matrix p = Matrix::Zero(way.now.m.rows(), way.now.m.rows());
  for (const ModeWay::Stretch& s : way.stretches) {
    p = EpochNoise(s.round, length).carried(p, s.rounds / length);
    if (!std::isfinite(p(0, 0).real())) return infinite;
  }
  return EpochNoise(way.now, length).mean_from(p);
}

std::complex<double> pull_response(const ModeWay& way, double h) {
  Vector x = Vector::Zero(way.now.m.rows());
  for (const ModeWay::Stretch& s : way.stretches) {
    const Complex a = s.round.m(0, 0);
    if (x.size() == 1 && std::abs(1.0 - a) > 1e-6) {
      const Complex left = std::pow(a, static_cast<double>(s.rounds));
      x[0] = left * x[0] + s.round.c[0] / h * (1.0 - left) / (1.0 - a);
      continue;
    }
    const Matrix still = Matrix::Zero(x.size(), x.size());
    const Affine all = repeated({s.round.m, still, s.round.c / h}, s.rounds);
    x = (all.m * x + all.c).eval();
  }
  return x[0];
}

}  // namespace gv
