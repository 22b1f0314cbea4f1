#include "graph/predict/mode_recursion.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include <Eigen/Dense>

namespace gv {
namespace {

using Complex = std::complex<double>;
using Matrix = ModeRound::Matrix;
using Vector = ModeRound::Vector;

ModeRound make(const Matrix& m, const Vector& c, const Vector& noise) {
  return {m, c, noise * noise.adjoint()};
}

ModeRound scalar(Complex m, Complex c, Complex noise) {
  return make(Matrix::Constant(1, 1, m), Vector::Constant(1, c), Vector::Constant(1, noise));
}

Vector vector(std::initializer_list<Complex> values) {
  Vector v(static_cast<Eigen::Index>(values.size()));
  Eigen::Index k = 0;
  for (const Complex& value : values) v[k++] = value;
  return v;
}

/// One step of D-PSGD. Without momentum z = (x); with it (x, u), u <- beta u + g, and x goes along
/// u, or with Nesterov along g + beta u.
ModeRound d_psgd(const QuadraticFleet& f, std::string_view order, Complex lambda, double h) {
  const double gamma = f.rate;
  const double beta = f.momentum;
  const Complex after = order == "atc" ? lambda : 1;   // factor of the step
  const Complex before = order == "cta" ? lambda : 1;  // factor of the gradient's point
  const Complex m = lambda - after * gamma * h * before;
  if (beta == 0) return scalar(m, after * gamma * h, -after * gamma);
  const double along = f.nesterov ? 1 + beta : 1;  // factor of g in the step
  const double kept = f.nesterov ? beta * beta : beta;
  Matrix matrix(2, 2);
  matrix << lambda - along * after * gamma * h * before, -after * gamma * kept, h * before, beta;
  return make(matrix, vector({along * after * gamma * h, -h}), vector({-along * after * gamma, 1}));
}

/// z = (x, last x, last noise). The centres cancel in the difference of gradients: no bias.
ModeRound d2(const QuadraticFleet& f, Complex lambda, double h) {
  const double gamma = f.rate;
  Matrix matrix = Matrix::Zero(3, 3);
  matrix.row(0) << lambda * (2 - gamma * h), -lambda * (1 - gamma * h), lambda * gamma;
  matrix(1, 0) = 1;
  return make(matrix, Vector::Zero(3), vector({-lambda * gamma, 0, 1}));
}

/// z as for d2; x <- (1 + lambda) x - (1 + lambda) / 2 last x - gamma (gradient - last gradient).
ModeRound extra(const QuadraticFleet& f, Complex lambda, double h) {
  const double gamma = f.rate;
  Matrix matrix = Matrix::Zero(3, 3);
  matrix.row(0) << 1.0 + lambda - gamma * h, gamma * h - (1.0 + lambda) / 2.0, gamma;
  matrix(1, 0) = 1;
  return make(matrix, Vector::Zero(3), vector({-gamma, 0, 1}));
}

/// z = (x, y, last noise); x <- lambda (x - gamma y), y <- lambda y + h (next x - x) + next noise -
/// last noise.
ModeRound gradient_tracking(const QuadraticFleet& f, Complex lambda, double h) {
  const double gamma = f.rate;
  Matrix matrix = Matrix::Zero(3, 3);
  matrix.row(0) << lambda, -gamma * lambda, 0;
  matrix.row(1) << h * (lambda - 1.0), lambda - h * gamma * lambda, -1;
  return make(matrix, Vector::Zero(3), vector({0, 1, 1}));
}

/// z as for gradient_tracking; x <- lambda (x - gamma y), y <- lambda (y + h (next x - x) + next
/// noise - last noise).
ModeRound aug_dgm(const QuadraticFleet& f, Complex lambda, double h) {
  const double gamma = f.rate;
  Matrix matrix = Matrix::Zero(3, 3);
  matrix.row(0) << lambda, -gamma * lambda, 0;
  matrix.row(1) << lambda * h * (lambda - 1.0), lambda * (1.0 - h * gamma * lambda), -lambda;
  return make(matrix, Vector::Zero(3), vector({0, lambda, 1}));
}

/// z = (x, y, momentum u); x <- lambda (x - gamma y), with g there u <- beta u + g, and y <- lambda
/// y + the change of u.
ModeRound momentum_tracking(const QuadraticFleet& f, Complex lambda, double h) {
  Matrix matrix(3, 3);
  const Complex along = -f.rate * lambda;
  matrix << lambda, along, 0, h * lambda, lambda + h * along, f.momentum - 1, h * lambda, h * along,
      f.momentum;
  return make(matrix, vector({0, -h, -h}), vector({0, 1, 1}));
}

/// z = (x, momentum times gamma): x <- lambda (x - gamma g) - beta m, m <- beta m + the move of x
/// without that momentum.
ModeRound decentlam(const QuadraticFleet& f, Complex lambda, double h) {
  const Complex kept = lambda * (1 - f.rate * h);
  Matrix matrix(2, 2);
  matrix << kept, -f.momentum, 1.0 - kept, f.momentum;
  const Complex step = lambda * f.rate;
  return make(matrix, vector({step * h, -step * h}), vector({-step, step}));
}

/// z = (x, sum c of flows, which fades by mu): x and c <- mu c + (lambda - 1) x are averaged, then
/// x <- x - gamma g + mu c.
ModeRound gut(const QuadraticFleet& f, Complex lambda, double h) {
  Matrix matrix(2, 2);
  matrix << lambda * (1 - f.rate * h) + f.momentum * (lambda - 1.0), f.momentum * f.momentum,
      lambda - 1.0, f.momentum;
  return make(matrix, vector({f.rate * h, 0}), vector({-f.rate, 0}));
}

/// The eigenvalue of the consensus step I + gamma (W - I).
Complex consensus(const QuadraticFleet& f, Complex lambda) {
  return 1.0 + f.consensus_step * (lambda - 1.0);
}

ModeRound nids(const QuadraticFleet& f, Complex lambda, double h) {
  return d2(f, (1.0 + lambda) / 2.0, h);
}

/// z = (x, v, last noise); x <- lambda x - gamma v, v <- lambda v + h (next x - x) + next noise -
/// last noise, with the consensus step's lambda.
ModeRound beer(const QuadraticFleet& f, Complex lambda, double h) {
  const Complex kept = consensus(f, lambda);
  Matrix matrix = Matrix::Zero(3, 3);
  matrix.row(0) << kept, -f.rate, 0;
  matrix.row(1) << h * (kept - 1.0), kept - h * f.rate, -1;
  return make(matrix, Vector::Zero(3), vector({0, 1, 1}));
}

/// z = (x, v, momentum u); x <- lambda x - gamma v, with g there u <- beta u + (1 - beta) g, and v
/// <- lambda v + the change of u.
ModeRound motef(const QuadraticFleet& f, Complex lambda, double h) {
  const Complex kept = consensus(f, lambda);
  const double share = 1 - f.momentum;
  const double along = -f.rate * share * h;
  Matrix matrix(3, 3);
  matrix << kept, -f.rate, 0, share * h * kept, kept + along, -share, share * h * kept, along,
      f.momentum;
  return make(matrix, vector({0, -share * h, -share * h}), vector({0, share, share}));
}

/// The mean of v is that of u: SGD with momentum, whose u counts 1 - beta.
ModeRound mean_of_motef(const QuadraticFleet& f, double h) {
  QuadraticFleet alone = f;
  alone.rate *= 1 - f.momentum;
  return d_psgd(alone, "lian", 1, h);
}

ModeRound repeated(const ModeRound& step, unsigned times) {
  ModeRound round = step;
  for (unsigned k = 1; k < times; ++k) round = round.then(step);
  return round;
}

/// z = (x, sum s of flows); tau steps x <- x - gamma g + s / tau, then x and s <- s + (lambda - 1)
/// x are averaged.
ModeRound led(const QuadraticFleet& f, Complex lambda, double h) {
  Matrix step(2, 2);
  step << 1 - f.rate * h, 1.0 / f.local_steps, 0, 1;
  Matrix average(2, 2);
  average << lambda, 0, lambda - 1.0, 1;
  const ModeRound steps =
      repeated(make(step, vector({f.rate * h, 0}), vector({-f.rate, 0})), f.local_steps);
  return steps.then(make(average, Vector::Zero(2), Vector::Zero(2)));
}

/// z = (x, x before its steps, correction c times gamma): tau steps x <- x - gamma (g + c), then x
/// is averaged and c <- c + (lambda - 1) times the mean direction of the steps.
ModeRound k_gt(const QuadraticFleet& f, Complex lambda, double h) {
  Matrix begin = Matrix::Zero(3, 3);
  begin(0, 0) = begin(1, 0) = begin(2, 2) = 1;
  Matrix step = Matrix::Identity(3, 3);
  step(0, 0) = 1 - f.rate * h;
  step(0, 2) = -1;
  Matrix average = Matrix::Zero(3, 3);
  average(0, 0) = lambda;
  const Complex share = (lambda - 1.0) / static_cast<double>(f.local_steps);
  average.row(2) << -share, share, 1;
  const ModeRound steps =
      repeated(make(step, vector({f.rate * h, 0, 0}), vector({-f.rate, 0, 0})), f.local_steps);
  return make(begin, Vector::Zero(3), Vector::Zero(3))
      .then(steps)
      .then(make(average, Vector::Zero(3), Vector::Zero(3)));
}

/// Lian's order on neighbours' vectors that are tau rounds old; z = (x, last x, ...).
ModeRound stale(const QuadraticFleet& f, Complex lambda, double h) {
  const auto size = static_cast<Eigen::Index>(f.staleness) + 1;
  Matrix matrix = Matrix::Zero(size, size);
  matrix(0, 0) = f.self_weight - f.rate * h;
  matrix(0, size - 1) += lambda - f.self_weight;
  for (Eigen::Index k = 1; k < size; ++k) matrix(k, k - 1) = 1;
  Vector c = Vector::Zero(size);
  Vector noise = Vector::Zero(size);
  c[0] = f.rate * h;
  noise[0] = -f.rate;
  return make(matrix, c, noise);
}

/// The orders of D-PSGD: one may average old vectors, and all may take local steps.
ModeRound plain(const QuadraticFleet& f, Complex lambda, double h) {
  if (f.staleness > 0) return stale(f, lambda, h);
  const ModeRound last = d_psgd(f, f.order, lambda, h);
  if (f.local_steps == 1) return last;
  return repeated(d_psgd(f, "atc", 1, h), f.local_steps - 1).then(last);
}

constexpr QuadraticOrder rows[] = {
    {.name = "lian", .round = plain},
    {.name = "atc", .round = plain},
    {.name = "cta", .round = plain},
    {.name = "d2", .round = d2, .corrects_bias = true, .needs_one_w = true},
    {.name = "gradient-tracking", .round = gradient_tracking, .corrects_bias = true},
    {.name = "aug-dgm", .round = aug_dgm, .corrects_bias = true, .needs_one_w = true},
    {.name = "momentum-tracking",
     .round = momentum_tracking,
     .corrects_bias = true,
     .brings_momentum = true},
    {.name = "extra", .round = extra, .corrects_bias = true, .needs_one_w = true},
    {.name = "nids", .round = nids, .corrects_bias = true, .needs_one_w = true},
    {.name = "led",
     .round = led,
     .corrects_bias = true,
     .needs_one_w = true,
     .corrects_local_steps = true},
    {.name = "k-gt", .round = k_gt, .corrects_bias = true, .corrects_local_steps = true},
    {.name = "decentlam", .round = decentlam, .needs_one_w = true, .brings_momentum = true},
    {.name = "gut", .round = gut, .needs_one_w = true, .brings_momentum = true},
    {.name = "beer", .round = beer, .corrects_bias = true, .needs_one_w = true},
    {.name = "motef",
     .round = motef,
     .mean = mean_of_motef,
     .corrects_bias = true,
     .needs_one_w = true,
     .brings_momentum = true},
};

/// Finds the fixed points of a round repeated for ever: P = m P m^H + q by doubling (Smith 1968),
/// and x = m x + c. Returns false if they grow.
bool settle(const ModeRound& round, Matrix& p, Vector& x) {
  Matrix power = round.m;
  p = round.q;
  x = round.c;
  for (int k = 0; k < 64; ++k) {
    const double size = power.cwiseAbs().maxCoeff();
    if (!(size < 1e60)) return false;
    if (size < 1e-18) return true;
    p += (power * p * power.adjoint()).eval();
    x += (power * x).eval();
    power = (power * power).eval();
  }
  return false;
}

}  // namespace

ModeRound ModeRound::then(const ModeRound& next) const {
  return {next.m * m, next.m * c + next.c, next.m * q * next.m.adjoint() + next.q};
}

std::optional<ModePower> stationary_power(const std::vector<ModeRound>& period) {
  if (period.size() == 1 && period[0].m.rows() == 1) {
    const Complex m = period[0].m(0, 0);
    if (!(std::norm(m) < 1)) return std::nullopt;
    return ModePower{period[0].q(0, 0).real() / (1 - std::norm(m)),
                     std::norm(period[0].c[0] / (1.0 - m))};
  }
  ModeRound whole = period[0];
  for (std::size_t t = 1; t < period.size(); ++t) whole = whole.then(period[t]);
  Matrix p;
  Vector x;
  if (!settle(whole, p, x)) return std::nullopt;
  ModePower power;
  const auto rounds = static_cast<double>(period.size());
  for (const ModeRound& round : period) {
    p = (round.m * p * round.m.adjoint() + round.q).eval();
    x = (round.m * x + round.c).eval();
    power.noise += p(0, 0).real() / rounds;
    power.spread += std::norm(x[0]) / rounds;
  }
  return power;
}

std::span<const QuadraticOrder> order_rows() {
  return rows;
}

const QuadraticOrder& order_of(const QuadraticFleet& f) {
  const auto* const row = std::ranges::find(rows, f.order, &QuadraticOrder::name);
  if (row == std::end(rows)) throw std::invalid_argument("predict: unknown order " + f.order);
  return *row;
}

ModeRound round_of(const QuadraticFleet& f, Complex lambda, double h, bool mean) {
  const QuadraticOrder& order = order_of(f);
  if (!mean || !order.corrects_bias) return order.round(f, lambda, h);
  return order.mean != nullptr ? order.mean(f, h) : plain(f, 1, h);
}

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

Affine composed(Affine once, std::uint64_t times) {
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
    const Affine all = composed({power(), covariance(), Vector::Zero(m_.rows())}, epochs);
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
  Matrix power() const { return composed({m_, m_, Vector::Zero(m_.rows())}, length_).m; }
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
    const Affine all = composed({s.round.m, s.round.q, Vector::Zero(size)}, s.rounds);
    p = (all.m * p * all.m.adjoint() + all.v).eval();
    if (!std::isfinite(p(0, 0).real())) return infinite;
  }
  return p(0, 0).real();
}

}  // namespace

bool grows(const ModeRound& round) {
  const Matrix still = Matrix::Zero(round.m.rows(), round.m.rows());
  const Affine far = composed({round.m, still, Vector::Zero(round.m.rows())}, 1 << 12);
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
    const Affine all = composed({s.round.m, still, s.round.c / h}, s.rounds);
    x = (all.m * x + all.c).eval();
  }
  return x[0];
}

}  // namespace gv
