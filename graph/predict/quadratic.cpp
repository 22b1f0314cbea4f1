#include "graph/predict/quadratic.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <stdexcept>

#include <Eigen/Dense>

#include "graph/mixing/dense_eigen.h"
#include "graph/predict/mode_recursion.h"
#include "graph/predict/transient.h"

namespace gv {
namespace {

void check(const QuadraticFleet& f) {
  const auto refuse = [](const std::string& what) {
    throw std::invalid_argument("predict: " + what);
  };
  if (std::ranges::find(quadratic_orders(), f.order) == quadratic_orders().end()) {
    std::string known;
    for (const std::string& order : quadratic_orders())
      known += (known.empty() ? "" : ", ") + order;
    refuse("unknown order `" + f.order + "` (known: " + known + ")");
  }
  const auto bad = [](double h) { return !(h > 0 && std::isfinite(h)); };
  if (f.hessian.empty() || std::ranges::any_of(f.hessian, bad))
    refuse("every entry of the hessian must be positive");
  if (!(f.rate > 0)) refuse("the rate must be positive, not " + std::to_string(f.rate));
  if (!(f.momentum >= 0 && f.momentum < 1))
    refuse("the momentum must lie in [0, 1), not " + std::to_string(f.momentum));
  if (!(f.noise >= 0 && f.spread >= 0)) refuse("variances must not be negative");
  if (f.local_steps == 0) refuse("a round has at least one local step");
  if (!(f.consensus_step > 0 && f.consensus_step <= 1))
    refuse("the consensus step must lie in (0, 1], not " + std::to_string(f.consensus_step));
  const QuadraticOrder& order = order_of(f);
  const bool plain = f.momentum == 0 && f.local_steps == 1;
  if (order.brings_momentum && (f.local_steps > 1 || f.staleness > 0 || f.nesterov))
    refuse(f.order + " supports no local steps, staleness or Nesterov's momentum");
  if (order.corrects_local_steps && !(f.momentum == 0 && f.staleness == 0))
    refuse(f.order + " supports no momentum or staleness");
  const bool bare = order.corrects_bias && !order.corrects_local_steps && !order.brings_momentum;
  if (bare && !(plain && f.staleness == 0))
    refuse(f.order + " supports no momentum, local steps or staleness");
  if (f.staleness > 0 && !(plain && f.order == "lian"))
    refuse("staleness is for the order lian, without momentum and local steps");
  if (f.staleness >= ModeRound::most)
    refuse("staleness of at most " + std::to_string(ModeRound::most - 1) + " rounds");
}

std::vector<ModeRound> rounds_of(const QuadraticFleet& f, const Mode& mode, double h) {
  std::vector<ModeRound> rounds;
  for (const auto& lambda : mode.values) rounds.push_back(round_of(f, lambda, h, false));
  return rounds;
}

/// A normal W whose eigenvalues are real is symmetric.
bool directed(const Modes& modes) {
  const auto complex = [](const std::complex<double>& value) {
    return std::abs(value.imag()) > 1e-9;
  };
  return std::ranges::any_of(modes.samples, [&](const std::vector<Mode>& sample) {
    return std::ranges::any_of(
        sample, [&](const Mode& mode) { return std::ranges::any_of(mode.values, complex); });
  });
}

std::optional<ModePower> settled_power(const QuadraticFleet& f, const Mode& mode, double h) {
  return mode.variance > 0 ? scalar_power_settled(f, mode, h)
                           : stationary_power(rounds_of(f, mode, h));
}

double unless_unstable(const std::optional<ModePower>& power, const QuadraticFleet& f) {
  if (!power) return std::numeric_limits<double>::infinity();
  return f.noise * power->noise + f.spread * power->spread;
}

/// Errors add up: every axis is estimated from the same random vectors.
void add(Estimate& sum, const Estimate& term, double factor) {
  sum.value += term.value * factor;
  sum.error += term.error * factor;
}

/// Returns E |z|^2 of the mean's mode, sqrt(n) (mean x - x*), which does not depend on the centres.
double mean_power(const QuadraticFleet& f, double h) {
  const auto power = stationary_power({round_of(f, 1, h, true)});
  return power ? f.noise * power->noise : std::numeric_limits<double>::infinity();
}

/// Effect of the noise and the centres along one axis of the Hessian: on the mean, and on the rest.
struct AxisPower {
  double mean = 0;
  Estimate others;
};
AxisPower axis_power(const Modes& modes, const QuadraticFleet& fleet, double h) {
  return {mean_power(fleet, h), modes.sum([&](const Mode& mode) {
            return unless_unstable(settled_power(fleet, mode, h), fleet);
          })};
}

using Doubles = Eigen::VectorXd;

constexpr PeerId dense_peers_of_quadratic = 1024;
constexpr int most_steps = 100'000;

/// One peer's component of a vector at rest: coefficients of its x and u after a round, and of b.
struct Part {
  double x = 0, u = 0, b = 0;
  Part operator+(const Part& o) const { return {x + o.x, u + o.u, b + o.b}; }
  Part operator*(double factor) const { return {factor * x, factor * u, factor * b}; }
};

/// A peer's model and its momentum.
struct Local {
  Part x{1, 0, 0}, u{0, 1, 0};

  Part gradient(double h) const { return (x + Part{0, 0, -1}) * h; }
  Part velocity(const QuadraticFleet& f, double h) const { return u * f.momentum + gradient(h); }
  Part direction(const QuadraticFleet& f, double h) const {
    const Part next = velocity(f, h);
    return f.nesterov ? gradient(h) + next * f.momentum : next;
  }
  Local stepped(const QuadraticFleet& f, double h) const {
    return {x + direction(f, h) * -f.rate, velocity(f, h)};
  }
};

/// (a + c W) x = (b + d W) centres: the place of rest.
struct RestEquation {
  double a = 1, c = 0, b = 0, d = 0;
};

/// Eliminates u, which at rest is `scale` u = p x + r b with the same p and r for all peers,
/// because a round then keeps u.
struct WithoutVelocity {
  WithoutVelocity(const QuadraticFleet& f, double h, const Local& before) {
    const Part u = before.velocity(f, h);
    scale = 1 - u.u;
    p = u.x;
    r = u.b;
  }
  /// Returns `scale` times a part, of x and b alone.
  Part of(const Part& part) const {
    return {scale * part.x + part.u * p, 0, scale * part.b + part.u * r};
  }
  double scale = 1, p = 0, r = 0;
};

/// lian averages the result of the local steps before the last, atc that of the last one.
RestEquation rest_equation(const QuadraticFleet& f, double h) {
  Local before;
  for (unsigned step = 1; step < f.local_steps; ++step) before = before.stepped(f, h);
  const WithoutVelocity without(f, h, before);
  if (f.order == "lian") {
    const Part averaged = without.of(before.x);
    const Part step = without.of(before.direction(f, h)) * f.rate;
    return {without.scale + step.x, -averaged.x, -step.b, averaged.b};
  }
  const Part averaged = without.of(before.stepped(f, h).x);
  return {without.scale, -averaged.x, 0, averaged.b};
}

/// Solves m x = right, m symmetric of one sign (Hestenes & Stiefel 1952). False if not converged.
template <class F>
bool solve_conjugate(F m, const Doubles& right, Doubles& x) {
  x.setZero(right.size());
  Doubles left = right;
  Doubles along = right;
  double square = left.squaredNorm();
  const double enough = 1e-30 * square;
  for (int k = 0; k < most_steps && square > enough; ++k) {
    const Doubles image = m(along);
    const double step = square / along.dot(image);
    x += step * along;
    left -= step * image;
    const double next = left.squaredNorm();
    along = left + next / square * along;
    square = next;
  }
  return square <= enough && x.allFinite();
}

/// Solves (a + c W) x = right. Every mode is stable, so that det(1 - round) is above 0 in each, and
/// that is a + c lambda: it is linear in lambda. So the matrix of an undirected W has one sign.
class RestSolver {
 public:
  RestSolver(const MixingMatrix& w, const RestEquation& e) : w_(w), e_(e) {
    if (!w.directed() || w.size() > dense_peers_of_quadratic) return;
    const Eigen::MatrixXd m = dense_matrix(w);
    dense_.compute(e.a * Eigen::MatrixXd::Identity(m.rows(), m.cols()) + e.c * m);
  }

  Doubles solve(const Doubles& right) const {
    if (w_.directed() && w_.size() <= dense_peers_of_quadratic) return dense_.solve(right);
    Doubles x;
    const auto image = [&](const Doubles& v) { return times(v, false); };
    const auto square = [&](const Doubles& v) { return times(times(v, false), true); };
    const bool found = w_.directed() ? solve_conjugate(square, times(right, true), x)
                                     : solve_conjugate(image, right, x);
    if (found) return x;
    throw std::runtime_error("predict: the fixed point is not found in " +
                             std::to_string(most_steps) +
                             " steps: the rate is too close to 0; take a higher one");
  }

 private:
  Doubles times(const Doubles& v, bool transposed) const {
    Doubles image(v.size());
    transposed ? w_.apply_transposed(v.data(), image.data()) : w_.apply(v.data(), image.data());
    return e_.a * v + e_.c * image;
  }

  const MixingMatrix& w_;
  RestEquation e_;
  Eigen::PartialPivLU<Eigen::MatrixXd> dense_;
};

/// Returns a fleet of order lian or atc that comes to rest at the same place as this one.
QuadraticFleet alike(const QuadraticFleet& fleet) {
  QuadraticFleet f = fleet;
  // At rest DecentLaM has no momentum, which leaves `atc`. GUT then tracks f / (1 - mu) of flows f,
  // so that f = (1 - mu) gamma g(W x), as in `cta` at a smaller rate.
  if (fleet.order == "decentlam" || fleet.order == "gut") f.momentum = 0;
  if (fleet.order == "gut") f.rate *= 1 - fleet.momentum;
  if (fleet.order != "lian") f.order = "atc";
  return f;
}

Doubles centered_column(const std::vector<std::vector<double>>& centers, std::size_t k) {
  Doubles column(static_cast<Eigen::Index>(centers.size()));
  for (std::size_t i = 0; i < centers.size(); ++i)
    column[static_cast<Eigen::Index>(i)] = centers[i][k];
  column.array() -= column.mean();
  return column;
}

/// Place of rest for centres whose mean is 0, on axes of one curvature.
class Rest {
 public:
  Rest(const MixingMatrix& w, const QuadraticFleet& fleet, double h)
      : w_(w),
        steps_last_(fleet.order == "cta" || fleet.order == "gut"),
        fleet_(alike(fleet)),
        h_(h),
        equation_(rest_equation(fleet_, h)),
        solver_(w, equation_) {}

  Doubles of(const Doubles& centers) const {
    Doubles image(centers.size());
    w_.apply(centers.data(), image.data());
    Doubles x = solver_.solve(equation_.b * centers + equation_.d * image);
    if (!steps_last_) return x;
    // cta averages where atc's round ends, and takes the first of its steps from there.
    Local before;
    for (unsigned step = 1; step < fleet_.local_steps; ++step) before = before.stepped(fleet_, h_);
    const WithoutVelocity without(fleet_, h_, before);
    const Part stepped = without.of(Local{}.stepped(fleet_, h_).x) * (1 / without.scale);
    return stepped.x * x + stepped.b * centers;
  }

 private:
  const MixingMatrix& w_;
  bool steps_last_;
  QuadraticFleet fleet_;
  double h_;
  RestEquation equation_;
  RestSolver solver_;
};

}  // namespace

const std::vector<std::string>& quadratic_orders() {
  static const std::vector<std::string> orders = [] {
    std::vector<std::string> names;
    for (const QuadraticOrder& row : order_rows()) names.emplace_back(row.name);
    return names;
  }();
  return orders;
}

bool corrects_bias(const QuadraticFleet& f) {
  return order_of(f).corrects_bias;
}

std::string why_no_theory(const Modes& modes, const QuadraticFleet& f) {
  // A random W's eigenvectors change with the round; an algorithm's memory besides the model would
  // need more of W's moments than its square.
  if (modes.method == "expectation" && !has_scalar_rounds(f))
    return "random schedules support lian, atc and cta, without momentum, local steps and "
           "staleness";
  const QuadraticOrder& order = order_of(f);
  if (!order.corrects_bias && !order.needs_one_w) return "";
  if (directed(modes))
    return f.order +
           " needs edges that carry messages both ways: take an undirected graph, such as `ring`";
  if (order.needs_one_w && modes.period() > 1)
    return f.order + " needs one fixed W, and a schedule has a different one in every round";
  return "";
}

void require_theory(const Modes& modes, const QuadraticFleet& fleet) {
  check(fleet);
  if (const std::string why = why_no_theory(modes, fleet); !why.empty())
    throw std::invalid_argument("predict: " + why);
}

bool is_stable(const Modes& modes, const QuadraticFleet& f) {
  const double h = f.hessian[0];
  if (!std::isfinite(mean_power(f, h))) return false;
  const auto stable = [&](const Mode& mode) { return settled_power(f, mode, h).has_value(); };
  return std::ranges::all_of(modes.samples, [&](const std::vector<Mode>& sample) {
    return std::ranges::all_of(sample, stable);
  });
}

std::optional<Stationary> predict(const Modes& modes, const QuadraticFleet& fleet) {
  require_theory(modes, fleet);
  Stationary s;
  const double n = modes.peers;
  std::map<double, AxisPower> known;  // among millions of coordinates most are alike
  for (const double h : fleet.hessian) {
    const auto [at, is_new] = known.try_emplace(h);
    if (is_new) at->second = axis_power(modes, fleet, h);
    const auto& [mean, others] = at->second;
    if (!std::isfinite(mean) || !std::isfinite(others.value)) return std::nullopt;
    add(s.consensus, others, 1 / n);
    add(s.excess_mean, {mean, 0}, h / (2 * n));
    add(s.excess_local, {others.value + mean, others.error}, h / (2 * n));
  }
  return s;
}

Stationary rest_of_centers(const MixingMatrix& w,
                           const QuadraticFleet& fleet,
                           const std::vector<std::vector<double>>& centers) {
  const std::size_t columns = fleet.hessian.size();
  const auto wrong = [columns](const auto& row) { return row.size() != columns; };
  if (centers.size() != w.size() || std::ranges::any_of(centers, wrong)) {
    throw std::invalid_argument("predict: the centres must be " + std::to_string(w.size()) +
                                " rows (one per peer) of " + std::to_string(columns) +
                                " numbers (one per entry of the hessian)");
  }
  Stationary s;
  if (corrects_bias(fleet)) return s;
  const double n = w.size();
  std::map<double, Rest> known;  // by curvature: coordinates often share one
  for (std::size_t k = 0; k < columns; ++k) {
    const double h = fleet.hessian[k];
    const Rest& rest = known.try_emplace(h, w, fleet, h).first->second;
    const double square = rest.of(centered_column(centers, k)).squaredNorm();
    s.consensus.value += square / n;
    s.excess_local.value += h * square / (2 * n);
  }
  return s;
}

std::optional<Stationary> predict_centers(const MixingMatrix& w,
                                          const Modes& modes,
                                          const QuadraticFleet& fleet,
                                          const std::vector<std::vector<double>>& centers) {
  QuadraticFleet alone = fleet;
  alone.spread = 0;
  std::optional<Stationary> s = predict(modes, alone);
  if (!s) return s;
  const Stationary rest = rest_of_centers(w, fleet, centers);
  s->consensus.value += rest.consensus.value;
  s->excess_local.value += rest.excess_local.value;
  return s;
}

}  // namespace gv
