#include "graph/predict/rates/stable_rates.h"

#include <algorithm>
#include <cmath>

#include <Eigen/Dense>
#include <gtest/gtest.h>

#include "graph/predict/mode_recursion.h"
#include "graph/predict/quadratic.h"
#include "graph/predict/sequence.h"
#include "graph/schedule/schedule.h"
#include "tests/graph/drawn_matrices.h"
#include "tests/graph/predict/peer_by_peer.h"
#include "tests/graph/reference_graphs.h"

namespace gv {
namespace {

using peer_by_peer::Algorithm;
using Matrix = Eigen::MatrixXd;

// Compares the predictor with the methods themselves, peer by peer (peer_by_peer.h), on drawn
// graphs: the stable rates, and the stationary state up to a thousandth below a limit.

/// The rounds of one curvature as a linear map of the whole state, iterated by squaring: 2^k rounds
/// in k steps.
struct Iterated {
  Iterated(const Algorithm& a, PeerId n) : n(n) {
    const auto size = static_cast<Eigen::Index>(a.blocks * n);
    const std::vector<double> silence(a.gradients * n, 0.0);
    const std::vector<double> nothing(n, 0.0);
    const auto period = [&](peer_by_peer::Vector state, std::size_t driven, const auto& noise,
                            const auto& centers) {
      for (std::size_t t = 0; t < a.rounds.size(); ++t)
        a.rounds[t](state, t == driven ? noise : silence, centers);
      return Eigen::VectorXd(Eigen::Map<const Eigen::VectorXd>(state.data(), size));
    };
    const std::vector<double> zero(a.blocks * n, 0.0);
    map = Matrix(size, size);
    for (Eigen::Index k = 0; k < size; ++k) {
      std::vector<double> unit = zero;
      unit[static_cast<std::size_t>(k)] = 1;
      map.col(k) = period(unit, 0, silence, nothing);
    }
    noise = Matrix(size, static_cast<Eigen::Index>(a.rounds.size() * silence.size()));
    Eigen::Index column = 0;
    for (std::size_t t = 0; t < a.rounds.size(); ++t) {
      for (std::size_t k = 0; k < silence.size(); ++k) {
        std::vector<double> impulse = silence;
        impulse[k] = 1;
        noise.col(column++) = period(zero, t, impulse, nothing);
      }
    }
    pulls = Matrix(size, static_cast<Eigen::Index>(n));
    for (PeerId i = 0; i < n; ++i) {
      std::vector<double> center = nothing;
      center[i] = 1;
      pulls.col(i) = period(zero, 0, silence, center);
    }
    reduce();
  }

  /// Removes directions that noise and centres never reach, such as sums that a method keeps at 0:
  /// rounding would reach them, and stay.
  void reduce() {
    Matrix reached(map.rows(), 0);
    for (;;) {
      Matrix next(map.rows(), noise.cols() + pulls.cols() + 2 * reached.cols());
      next << reached, noise, pulls, map * reached;
      Eigen::ColPivHouseholderQR<Matrix> qr(next);
      qr.setThreshold(1e-9);
      const Eigen::Index rank = qr.rank();
      if (rank == reached.cols()) break;
      reached = Matrix(qr.householderQ()).leftCols(rank);
    }
    map = (reached.transpose() * map * reached).eval();
    noise = (reached.transpose() * noise).eval();
    pulls = (reached.transpose() * pulls).eval();
    model = reached.topRows(n);
  }

  /// Returns whether the state grows without bound from a noisy start, within 2^26 periods.
  bool diverges() const {
    Matrix power = map;
    for (int k = 0; k < 26; ++k) {
      const double size = (power * noise).norm() / noise.norm();
      if (!(size < 1e8)) return true;
      if (size < 1e-8) return false;
      power = (power * power).eval();
    }
    ADD_FAILURE() << "neither grows nor shrinks";
    return true;
  }

  /// Computes the covariance, and the fixed points per unit of each centre, after convergence.
  void settle(Matrix& covariance, Matrix& rest) const {
    covariance = noise * noise.transpose();
    rest = pulls;
    Matrix power = map;
    for (int k = 0; k < 40; ++k) {
      const Matrix more = power * covariance * power.transpose();
      rest += (power * rest).eval();
      covariance += more;
      if (more.norm() < 1e-14 * covariance.norm()) return;
      power = (power * power).eval();
    }
    ADD_FAILURE() << "does not settle";
  }

  PeerId n;
  Matrix map, noise, pulls;
  Matrix model;  ///< x in the reached directions
};

Algorithm algorithm_of(const std::vector<MixingMatrix>& w, const QuadraticFleet& f) {
  if (f.order == "d2" || f.order == "nids") return peer_by_peer::d2(w[0], f);
  if (f.order == "extra") return peer_by_peer::extra(w[0], f);
  if (f.order == "gradient-tracking") return peer_by_peer::gradient_tracking(w[0], f);
  if (f.order == "aug-dgm") return peer_by_peer::aug_dgm(w[0], f);
  if (f.order == "momentum-tracking") return peer_by_peer::momentum_tracking(w[0], f);
  if (f.order == "decentlam") return peer_by_peer::decentlam(w[0], f);
  if (f.order == "gut") return peer_by_peer::gut(w[0], f);
  if (f.order == "led") return peer_by_peer::led(w[0], f);
  if (f.order == "k-gt") return peer_by_peer::k_gt(w[0], f);
  if (f.order == "beer" || f.order == "motef") return peer_by_peer::beer(w[0], f);
  if (f.staleness > 0) return peer_by_peer::stale(w[0], f);
  return peer_by_peer::d_psgd(w, f);
}

/// (I + W) / 2.
MixingMatrix halved(const MixingMatrix& w) {
  std::vector<Neighborhood> rows;
  for (PeerId i = 0; i < w.size(); ++i) {
    rows.push_back(w.row(i));
    rows.back().self = (1 + rows.back().self) / 2;
    for (double& weight : rows.back().weights) weight /= 2;
  }
  return {std::move(rows), w.directed()};
}

MixingMatrix matrix_of(const DrawnMatrices& all) {
  std::vector<Neighborhood> rows(all.n);
  for (PeerId i = 0; i < all.n; ++i) {
    rows[i].self = all(0, i, i);
    for (PeerId j = 0; j < all.n; ++j) {
      if (j == i) continue;
      if (all(0, j, i) != 0) rows[i].receivers.push_back(j);
      if (all(0, i, j) == 0) continue;
      rows[i].peers.push_back(j);
      rows[i].weights.push_back(all(0, i, j));
    }
  }
  return {std::move(rows), true};
}

/// A drawn fleet and its rates.
struct Drawn {
  std::vector<MixingMatrix> w;
  std::optional<Modes> modes;  ///< absent if W is not normal
  QuadraticFleet fleet;
  std::string what;

  StableRates rates() const {
    if (modes) return stable_rates(*modes, fleet);
    return schedule_stable_rates(PeriodicSchedule({w[0]}), fleet).value();
  }
  std::optional<Stationary> values() const {
    if (modes) return predict(*modes, fleet);
    return settled_sequence(PeriodicSchedule({w[0]}), fleet, 3e7);
  }
};

Topology drawn_topology(SplitMix& rng) {
  switch (rng.below(6)) {
    case 0:
      return family("hypercube", rng.below(2) == 0 ? 8 : 16);
    case 1:
      return family("star", 5 + static_cast<PeerId>(rng.below(8)));
    case 2:
      return family("complete", 5 + static_cast<PeerId>(rng.below(8)));
    default:
      break;
  }
  const auto n = static_cast<PeerId>(5 + rng.below(9));
  const double density = 0.5 * rng.uniform();
  std::vector<Edge> edges;
  for (PeerId i = 1; i < n; ++i) edges.emplace_back(static_cast<PeerId>(rng.below(i)), i);
  for (PeerId i = 0; i < n; ++i)
    for (PeerId j = i + 1; j < n; ++j)
      if (rng.uniform() < density) edges.emplace_back(i, j);
  return make_topology("drawn", n, edges);
}

void draw_graph(Drawn& d, SplitMix& rng, bool plain) {
  const std::uint64_t kind = plain ? rng.below(5) : 4;
  const auto n = static_cast<PeerId>(5 + rng.below(6));
  if (kind == 0) {
    d.w = {metropolis(family("exponential", n))};
    d.modes = family_modes("exponential", n);
    d.what = "exponential";
  } else if (kind == 1) {
    d.w = {matrix_of(drawn_matrices(n, 1, false, rng))};
    d.what = "directed";
  } else if (kind == 2) {
    for (PeerId hop = 1; hop < n; hop *= 2) {
      std::vector<Neighborhood> rows;
      for (PeerId i = 0; i < n; ++i) rows.push_back({0.5, {(i + n - hop) % n}, {0.5}, {}});
      d.w.emplace_back(std::move(rows), true);
    }
    d.modes = modes_of_schedule("one-peer-exponential", n);
    d.what = "one-peer-exponential";
  } else {
    const Topology t = drawn_topology(rng);
    const char* const weights[] = {"metropolis", "max-degree", "lazy"};
    const char* const rule = weights[rng.below(3)];
    d.w = {mixing_matrix(rule, t)};
    d.modes = dense_modes(d.w[0]);
    d.what = t.name + " " + rule;
  }
  d.what += " of " + std::to_string(d.w[0].size());
}

Drawn drawn(std::uint64_t number) {
  SplitMix rng(number);
  const std::vector<std::string>& orders = quadratic_orders();
  Drawn d;
  QuadraticFleet& f = d.fleet;
  f.noise = 0.5 + rng.uniform();
  // Every second fleet is plain D-PSGD, whose stable set has the most shapes.
  const bool plain = number % 2 == 0;
  f.order = plain ? orders[rng.below(3)] : orders[3 + (number / 2) % (orders.size() - 3)];
  draw_graph(d, rng, plain);
  f.hessian = {1};
  if (rng.below(3) == 0) f.hessian = {0.5 + 2 * rng.uniform(), 0.3 + 0.5 * rng.uniform()};
  if (order_of(f).brings_momentum) f.momentum = 0.95 * rng.uniform();
  if (order_of(f).corrects_local_steps) f.local_steps = 1 + static_cast<unsigned>(rng.below(4));
  if (f.order == "beer" || f.order == "motef") f.consensus_step = 0.3 + 0.7 * rng.uniform();
  if (plain && rng.below(4) > 0) f.momentum = rng.below(2) == 0 ? 0.9 : 0.95 * rng.uniform();
  if (plain && rng.below(4) > 0) f.local_steps = 2 + static_cast<unsigned>(rng.below(4));
  if (plain && rng.below(8) == 0) {
    const auto n = static_cast<PeerId>(5 + rng.below(6));
    f.order = "lian";
    f.momentum = 0;
    f.local_steps = 1;
    f.staleness = 1 + static_cast<unsigned>(rng.below(3));
    f.self_weight = 1.0 / 3;
    d.w = {metropolis(family("ring", n))};
    d.modes = family_modes("ring", n);
    d.what = "ring of " + std::to_string(n) + ", stale";
  }
  d.what += ", " + f.order + ", momentum " + std::to_string(f.momentum) + ", " +
            std::to_string(f.local_steps) + " steps";
  return d;
}

/// Returns rates to test: a thousandth on both sides of each limit, the middle of windows and of
/// the gaps between windows, and some random ones.
std::vector<double> rates_in_question(const StableRates& rates, SplitMix& rng) {
  std::vector<double> asked;
  double before = 0;
  for (const RateWindow& w : rates.windows) {
    for (const double factor : {0.999, 1.001}) {
      asked.push_back(factor * w.high);
      if (w.low > 0) asked.push_back(factor * w.low);
    }
    asked.push_back((w.low + w.high) / 2);
    if (w.low > 0) asked.push_back((before + w.low) / 2);
    before = w.high;
  }
  for (int k = 0; k < 4; ++k) asked.push_back((before > 0 ? 1.2 * before : 2) * rng.uniform());
  return asked;
}

struct Count {
  int rates = 0, stable = 0, values = 0, rests = 0, windows = 0, apart = 0;
};

std::vector<Iterated> simulated(const Drawn& d, double rate) {
  std::vector<Iterated> axes;
  std::vector<MixingMatrix> w = d.w;
  if (d.fleet.order == "nids") w[0] = halved(w[0]);
  for (const double h : d.fleet.hessian) {
    QuadraticFleet f = d.fleet;
    f.hessian = {h};
    f.rate = rate;
    axes.emplace_back(algorithm_of(w, f), w[0].size());
  }
  return axes;
}

void expect_values(const Drawn& d, const std::vector<Iterated>& axes, Count& count) {
  const auto n = static_cast<Eigen::Index>(d.w[0].size());
  const std::optional<Stationary> s = d.values();
  if (!s && !d.modes) return;  // too many rounds to iterate; `graph predict` reports that
  ASSERT_TRUE(s.has_value());
  if (d.w.size() > 1) return;  // the mean over a period: predict_lyapunov_test.cpp
  ++count.values;
  const Matrix off = Matrix::Identity(n, n).array() - 1.0 / static_cast<double>(n);
  std::vector<std::vector<double>> centers(d.w[0].size());
  double consensus = 0;
  double local = 0;
  double resting = 0;
  for (std::size_t k = 0; k < axes.size(); ++k) {
    Matrix covariance;
    Matrix rest;
    axes[k].settle(covariance, rest);
    const Matrix x = axes[k].model * covariance * axes[k].model.transpose();
    const double share = d.fleet.noise / static_cast<double>(n);
    consensus += share * (off * x).trace();
    local += share * d.fleet.hessian[k] / 2 * x.trace();
    Eigen::VectorXd b = Eigen::VectorXd::LinSpaced(n, -1, 1).array().square().sin();
    b.array() -= b.mean();
    for (Eigen::Index i = 0; i < n; ++i) centers[static_cast<std::size_t>(i)].push_back(b[i]);
    resting += (axes[k].model * rest * b).squaredNorm() / static_cast<double>(n);
  }
  const double exact = d.modes ? 1e-6 : 1e-4;
  EXPECT_NEAR(s->consensus.value, consensus, exact * consensus + 1e-12 * local);
  EXPECT_NEAR(s->excess_local.value / local, 1, exact);
  ++count.rests;
  EXPECT_NEAR(rest_of_centers(d.w[0], d.fleet, centers).consensus.value, resting,
              1e-7 * resting + 1e-12);
}

void check(std::uint64_t number, Count& count) {
  Drawn d = drawn(number);
  const StableRates rates = d.rates();
  ++count.apart;
  count.windows += static_cast<int>(rates.windows.size());
  SplitMix rng(number);
  for (const double rate : rates_in_question(rates, rng)) {
    SCOPED_TRACE(testing::Message() << number << ": " << d.what << ", rate " << rate);
    d.fleet.rate = rate;
    const std::vector<Iterated> axes = simulated(d, rate);
    const bool stable =
        std::ranges::none_of(axes, [](const Iterated& axis) { return axis.diverges(); });
    ++count.rates;
    EXPECT_EQ(rates.contains(rate), stable);
    EXPECT_TRUE(!d.modes || predict(*d.modes, d.fleet).has_value() == stable);
    if (!stable) continue;
    ++count.stable;
    expect_values(d, axes, count);
  }
}

class DrawnFleets : public ::testing::TestWithParam<std::uint64_t> {};

TEST_P(DrawnFleets, AreStableWhereTheirMethodIs) {
  Count count;
  for (std::uint64_t k = 0; k < 40; ++k) check(40 * GetParam() + k, count);
  RecordProperty("rates", count.rates);
  RecordProperty("stable", count.stable);
  RecordProperty("values", count.values);
  RecordProperty("windows", count.windows);
  EXPECT_GT(count.stable, 80);
  EXPECT_GT(count.rates - count.stable, 40);
  EXPECT_GT(count.values, 60);
}

INSTANTIATE_TEST_SUITE_P(Fast, DrawnFleets, ::testing::Values(0));
INSTANTIATE_TEST_SUITE_P(Slow, DrawnFleets, ::testing::Range<std::uint64_t>(1, 10));

/// A mode turns by more than a half-circle in a round with momentum and local steps: its trace and
/// its determinant, 0.9^2 lambda, give the windows (Jury 1964). The first window was once reported
/// to extend to the end of the last.
TEST(StableRates, OfMomentumAndLocalStepsAreWindows) {
  const Topology t = make_topology(
      "seven", 7, {{0, 1}, {0, 2}, {0, 4}, {0, 5}, {0, 6}, {1, 5}, {2, 4}, {3, 6}, {4, 5}, {5, 6}});
  QuadraticFleet f{.momentum = 0.9, .local_steps = 2};
  const Modes modes = dense_modes(metropolis(t));
  const std::vector<RateWindow> windows = stable_rates(modes, f).windows;
  ASSERT_EQ(windows.size(), 2U);
  EXPECT_EQ(windows[0].low, 0);
  EXPECT_NEAR(windows[0].high, 0.94627, 5e-6);
  EXPECT_NEAR(windows[1].low, 1.78904, 5e-6);
  EXPECT_NEAR(windows[1].high, 2.807, 5e-4);
  for (const RateWindow& w : windows) {
    for (const double limit : {w.low, w.high}) {
      if (limit == 0) continue;
      double nearest = 1;
      for (const Mode& mode : modes.samples[0]) {
        const double lambda = mode.values[0].real();
        // (lambda - s, -0.9 s; 1, 0.9) after (1 - s, -0.9 s; 1, 0.9).
        const double trace = (lambda - limit) * (1 - limit) - 0.9 * limit - 0.9 * limit + 0.81;
        nearest = std::min(nearest, std::abs(std::abs(trace) - 1 - 0.81 * lambda));
      }
      EXPECT_LT(nearest, 1e-9) << limit;
    }
  }
  // With two curvatures, both must be stable.
  f.hessian = {1, 2};
  const std::vector<RateWindow> both = stable_rates(modes, f).windows;
  ASSERT_EQ(both.size(), 2U);
  EXPECT_NEAR(both[0].high, windows[0].high / 2, 1e-9);
  EXPECT_NEAR(both[1].low, windows[1].low / 2, 1e-9);
  EXPECT_NEAR(both[1].high, windows[0].high, 1e-9);
}

/// led with one step is D2, whose window begins at (3 - 1 / |lambda_n|) / 2; gut's was once
/// reported to begin at 0 as well.
TEST(StableRates, OfMethodsThatNeedLambdaNAboveABoundBeginAbove0) {
  const Modes cube = family_modes("hypercube", 16);  // lambda_n = -0.6
  EXPECT_NEAR(stable_rates(cube, {.order = "led"}).windows.at(0).low, (3 - 1 / 0.6) / 2, 1e-9);
  EXPECT_GT(stable_rates(cube, {.local_steps = 3, .order = "led"}).windows.at(0).low, 0.01);
  const StableRates gut = stable_rates(cube, {.momentum = 0.9, .order = "gut"});
  EXPECT_FALSE(gut.contains(0.01));
  const Modes lazy_cube = family_modes("hypercube", 16, "lazy");
  for (const char* order : {"led", "gut"})
    EXPECT_EQ(stable_rates(lazy_cube, {.order = order}).windows.at(0).low, 0) << order;
}

/// The fixed point was once computed by rounds of the method without momentum, which is stable only
/// up to 2: it was NaN.
TEST(StableRates, RestOfDecentLamIsKnownUpToItsLimit) {
  const MixingMatrix w = lazy(family("torus:3x4", 12));
  QuadraticFleet f{.momentum = 0.9, .order = "decentlam"};
  const double limit = stable_rates(dense_modes(w), f).windows.back().high;
  ASSERT_GT(limit, 2.5);
  std::vector<std::vector<double>> centers;
  for (PeerId i = 0; i < 12; ++i) centers.push_back({std::sin(i)});
  for (const double part : {0.7, 0.9, 0.999}) {
    f.rate = part * limit;
    const std::optional<Stationary> s = predict_centers(w, dense_modes(w), f, centers);
    ASSERT_TRUE(s.has_value());
    EXPECT_TRUE(std::isfinite(s->consensus.value)) << part;
  }
}

/// A directed W of too many peers for the dense solver.
TEST(StableRates, RestOfManyPeersIsThatOfTheirRounds) {
  const PeerId n = 1100;
  const MixingMatrix w = metropolis(family("exponential", n));
  std::vector<double> x(n);
  std::vector<double> image(n);
  std::vector<std::vector<double>> centers;
  double mean = 0;
  for (PeerId i = 0; i < n; ++i) centers.push_back({std::sin(i * i)});
  for (const auto& row : centers) mean += row[0] / n;
  for (int round = 0; round < 600; ++round) {
    w.apply(x.data(), image.data());
    for (PeerId i = 0; i < n; ++i) x[i] = image[i] - 0.1 * (x[i] - centers[i][0] + mean);
  }
  double square = 0;
  for (const double value : x) square += value * value / n;
  EXPECT_NEAR(rest_of_centers(w, {}, centers).consensus.value / square, 1, 1e-9);
}

}  // namespace
}  // namespace gv
