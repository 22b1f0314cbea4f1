#include <cmath>

#include <gtest/gtest.h>

#include "graph/predict/quadratic.h"
#include "graph/predict/transient.h"
#include "graph/topologies.h"
#include "tests/graph/reference_graphs.h"

namespace gv {
namespace {

MixingMatrix of(const char* family, PeerId n) {
  return metropolis(build(parse_topology(family), n));
}

/// Results of iterating the covariances C_k of all peers on axis k, with each peer's own noise.
struct Exact {
  double consensus = 0, mean = 0, local = 0;
};
Exact iterate(const MixingMatrix& w, const RegressionFleet& f) {
  const std::size_t n = w.size();
  const std::size_t d = f.covariance.size();
  using Square = std::vector<std::vector<double>>;
  std::vector<Square> c(d, Square(n, std::vector<double>(n)));
  const auto left = [&](Square& m, auto&& apply) {  // maps every column by `apply`
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

/// Rounds converge to the fixed point; the first step is known exactly.
TEST(PredictRegression, AfterManyRoundsIsSettled) {
  for (const char* order : {"lian", "atc", "cta"}) {
    const RegressionFleet fleet{
        .covariance = {1, 0.6, 0.6, 0.3}, .noise = 0.5, .batch = 2, .rate = 0.1, .order = order};
    const std::vector<double> optimum{1, -1, 2, 0.5};
    for (const Modes& modes :
         {dense_modes(of("ring", 9)), modes_of_schedule("one-peer-exponential", 8)}) {
      const Stationary late = predict_regression_after(modes, fleet, optimum, 4000);
      const Stationary end = predict_regression(modes, fleet).value();
      // Compares one round of a period with the mean over the period.
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
