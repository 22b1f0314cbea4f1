#include <cmath>

#include <gtest/gtest.h>

#include "graph/predict/centers.h"
#include "graph/predict/regression.h"
#include "graph/predict/unequal.h"

namespace gv {
namespace {

MixingMatrix of(const char* family, PeerId n) {
  return metropolis(build(parse_topology(family), n));
}

/// The table of section 4.4 of the project's theory sheet: its 16 curvatures and minima, gamma
/// 0.05.
TEST(PredictUnequal, TheSheetsTable) {
  const std::vector<double> h{0.2689058178684617,
                              0.6314047694498827,
                              0.798966101151186,
                              0.21365792388448074,
                              0.28116164801105614,
                              1.6952783611007645,
                              0.23520717827624466,
                              0.26965218582157924,
                              1.7756544290110716,
                              0.8373626555674702,
                              0.4677600415362225,
                              0.6492620481890282,
                              0.920180335801137,
                              0.3769977961554669,
                              0.2747881932222406,
                              1.2276359284450373};
  const std::vector<double> b{-0.006826779865523179,
                              1.0461432923049026,
                              0.7415884212884828,
                              0.7239565416499906,
                              1.6187762233340763,
                              -1.2055581426463289,
                              -0.6269554710763733,
                              -1.3206632116051251,
                              -0.10775250794802987,
                              0.9987636553170226,
                              -0.02194788627038025,
                              0.4958800664642217,
                              -1.910768664176647,
                              0.14706416587832766,
                              -0.9069432512592963,
                              1.7753893872461408};
  UnequalQuadratic problem;
  problem.rate = 0.05;
  for (std::size_t i = 0; i < 16; ++i) {
    problem.hessian.push_back({h[i]});
    problem.centers.push_back({b[i]});
  }
  struct Row {
    const char* family;
    const char* order;
    double mean, bias, local, consensus;
  };
  for (const Row& row : {Row{"complete", "atc", 0.000795, 0, 0.000795, 0},
                         Row{"torus:4x4", "lian", 0.000845, 0.000032, 0.002860, 0.005902},
                         Row{"ring", "lian", 0.001022, 0.000205, 0.017642, 0.048686},
                         Row{"ring", "atc", 0.000948, 0.000144, 0.015210, 0.041777},
                         Row{"star", "lian", 0.001608, 0.000683, 0.059297, 0.168993},
                         Row{"path", "lian", 0.000925, 0.000100, 0.017248, 0.047816}}) {
    SCOPED_TRACE(std::string(row.family) + " " + row.order);
    problem.order = row.order;
    const UnequalStationary s = predict_unequal(of(row.family, 16), problem).value();
    EXPECT_NEAR(s.excess_mean, row.mean, 6e-7);
    EXPECT_NEAR(s.bias, row.bias, 6e-7);
    EXPECT_NEAR(s.excess_local, row.local, 6e-7);
    EXPECT_NEAR(s.consensus, row.consensus, 6e-7);
  }
}

/// With one Hessian for all it is the other predictor.
TEST(PredictUnequal, EqualHessiansAgreeWithTheModes) {
  const MixingMatrix w = of("grid:3x4", 12);
  for (const std::string order : {"lian", "atc", "cta"}) {
    QuadraticFleet fleet{.hessian = {0.5, 1}, .noise = 1.5, .rate = 0.1, .order = order};
    UnequalQuadratic problem{
        .hessian = {}, .centers = {}, .noise = 1.5, .rate = 0.1, .order = order};
    for (std::size_t i = 0; i < 12; ++i) {
      problem.hessian.push_back(fleet.hessian);
      problem.centers.push_back({std::sin(static_cast<double>(i)), static_cast<double>(i % 3)});
    }
    const Stationary a = predict_centers(w, dense_modes(w), fleet, problem.centers).value();
    const UnequalStationary s = predict_unequal(w, problem).value();
    EXPECT_NEAR(s.consensus, a.consensus.value, 1e-11) << order;
    EXPECT_NEAR(s.excess_mean, a.excess_mean.value, 1e-11) << order;
    EXPECT_NEAR(s.excess_local, a.excess_local.value, 1e-11) << order;
    EXPECT_NEAR(s.bias, 0, 1e-20) << order;
    problem.rate = 2.5;
    EXPECT_FALSE(predict_unequal(w, problem)) << order;
  }
  EXPECT_THROW(predict_unequal(w, {.hessian = {{1}}, .centers = {{1}}}), std::invalid_argument);
}

/// The covariances C_k of all peers on axis k, iterated with each peer's own noise.
struct Exact {
  double consensus = 0, mean = 0, local = 0;
};
Exact iterate(const MixingMatrix& w, const RegressionFleet& f) {
  const std::size_t n = w.size();
  const std::size_t d = f.covariance.size();
  using Square = std::vector<std::vector<double>>;
  std::vector<Square> c(d, Square(n, std::vector<double>(n)));
  const auto left = [&](Square& m, auto&& apply) {  // every column through `apply`
    std::vector<double> x(n), y(n);
    for (std::size_t j = 0; j < n; ++j) {
      for (std::size_t i = 0; i < n; ++i) x[i] = m[i][j];
      apply(x, y);
      for (std::size_t i = 0; i < n; ++i) m[i][j] = y[i];
    }
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < i; ++j) std::swap(m[i][j], m[j][i]);
  };
  for (int round = 0; round < 3000; ++round) {
    const std::vector<Square> old = c;
    for (std::size_t k = 0; k < d; ++k) {
      const double h = f.covariance[k];
      const auto step = [&](const std::vector<double>& x, std::vector<double>& y) {
        w.apply(x.data(), y.data());
        for (std::size_t i = 0; i < n; ++i)
          y[i] = f.order == "lian" ? y[i] - f.rate * h * x[i] : y[i] * (1 - f.rate * h);
      };
      Square noise(n, std::vector<double>(n));
      for (std::size_t i = 0; i < n; ++i) {
        double sum = f.noise;
        for (std::size_t l = 0; l < d; ++l) sum += f.covariance[l] * old[l][i][i];
        noise[i][i] = f.rate * f.rate / f.batch * (h * h * old[k][i][i] + h * sum);
      }
      const auto mix = [&](const std::vector<double>& x, std::vector<double>& y) {
        w.apply(x.data(), y.data());
      };
      for (int side = 0; side < 2; ++side) {
        left(c[k], step);
        if (f.order == "atc") left(noise, mix);
      }
      for (std::size_t i = 0; i < n; ++i)
        for (std::size_t j = 0; j < n; ++j) c[k][i][j] += noise[i][j];
    }
  }
  Exact e;
  for (std::size_t k = 0; k < d; ++k) {
    double trace = 0;
    double sum = 0;
    for (std::size_t i = 0; i < n; ++i) {
      trace += c[k][i][i];
      for (const double v : c[k][i]) sum += v;
    }
    const auto peers = static_cast<double>(n);
    e.consensus += (trace - sum / peers) / peers;
    e.mean += f.covariance[k] / 2 * sum / (peers * peers);
    e.local += f.covariance[k] / 2 * trace / peers;
  }
  return e;
}

/// Round by round to the fixed point, and its first step by hand.
TEST(PredictRegression, AfterManyRoundsIsSettled) {
  for (const char* order : {"lian", "atc", "cta"}) {
    const RegressionFleet fleet{
        .covariance = {1, 0.6, 0.6, 0.3}, .noise = 0.5, .batch = 2, .rate = 0.1, .order = order};
    const std::vector<double> optimum{1, -1, 2, 0.5};
    for (const Modes& modes : {dense_modes(of("ring", 9)), one_peer_exponential_modes(8)}) {
      const Stationary late = predict_regression_after(modes, fleet, optimum, 4000);
      const Stationary end = predict_regression(modes, fleet).value();
      // At one round of a period, beside the mean over the period.
      const double tolerance = modes.period() == 1 ? 1e-9 : 0.5;
      EXPECT_NEAR(late.excess_local.value / end.excess_local.value, 1, tolerance) << order;
      EXPECT_NEAR(late.consensus.value / end.consensus.value, 1, tolerance) << order;
      const Stationary start = predict_regression_after(modes, fleet, optimum, 0);
      EXPECT_NEAR(start.excess_mean.value, 0.5 * (1 + 0.6 * (1 + 4) + 0.3 * 0.25), 1e-12);
      EXPECT_NEAR(start.consensus.value, 0, 1e-12);
    }
    EXPECT_THROW(predict_regression_after(dense_modes(of("ring", 9)), fleet, {1}, 1),
                 std::invalid_argument);
  }
}

TEST(PredictRegression, AgreesWithTheIteratedCovariance) {
  for (const char* family : {"ring", "torus:3x3", "complete"}) {
    const MixingMatrix w = of(family, 9);
    for (const char* order : {"lian", "atc"}) {
      for (const auto& [rate, batch] : {std::pair{0.05, 1.0}, std::pair{0.1, 4.0}}) {
        SCOPED_TRACE(std::string(family) + " " + order);
        const RegressionFleet fleet{.covariance = {1, 0.6, 0.3},
                                    .noise = 0.5,
                                    .batch = batch,
                                    .rate = rate,
                                    .order = order};
        const Exact e = iterate(w, fleet);
        const Stationary s = predict_regression(dense_modes(w), fleet).value();
        EXPECT_NEAR(s.consensus.value, e.consensus, 1e-12);
        EXPECT_NEAR(s.excess_mean.value, e.mean, 1e-12);
        EXPECT_NEAR(s.excess_local.value, e.local, 1e-12);
      }
    }
  }
  EXPECT_FALSE(predict_regression(dense_modes(of("ring", 9)), {.covariance = {1, 1}, .rate = 0.6}));
}

}  // namespace
}  // namespace gv
