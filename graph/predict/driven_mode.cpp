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

}  // namespace

bool grows(const ModeRound& round) {
  const Matrix still = Matrix::Zero(round.m.rows(), round.m.rows());
  const Affine far = repeated({round.m, still, Vector::Zero(round.m.rows())}, 1 << 12);
  return !std::isfinite(far.c[0].real()) || far.m.cwiseAbs().maxCoeff() > 1;
}

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

double pull_power(const ModeRound& round, double h, std::uint64_t rounds) {
  if (rounds == 0) return 0;  // std::pow of a complex zero to the power of zero is not a number
  const Eigen::Index size = round.m.rows();
  if (size == 1 && std::abs(1.0 - round.m(0, 0)) > 1e-6) {
    const Complex a = round.m(0, 0);
    const Complex sum = (1.0 - std::pow(a, static_cast<double>(rounds))) / (1.0 - a);
    return std::norm(round.c[0] / h * sum);
  }
  return std::norm(repeated({round.m, Matrix::Zero(size, size), round.c / h}, rounds).c[0]);
}

}  // namespace gv
