#include "graph/predict/mode_recursion.h"

#include <algorithm>
#include <stdexcept>

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

}  // namespace gv
