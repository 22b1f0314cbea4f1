#include "peer/study/predict/calibrate/local_calibration.h"

#include <cmath>
#include <numeric>

#include <gtest/gtest.h>

#include "optim/host/slices.h"
#include "optim/replica/host_replica.h"
#include "optim/train/predictor.h"
#include "peer/study/predict/calibrate/krylov.h"

namespace gv {
namespace {

using Objectives = std::vector<std::unique_ptr<Objective>>;

/// Returns `count` rows from `first` on.
Share share_of(const TrainTest& data, std::uint32_t first, std::uint32_t count, std::uint64_t i) {
  std::vector<std::uint32_t> rows(count);
  std::iota(rows.begin(), rows.end(), first);
  return {data.train, data.test, rows, Rng(9).derive(i)};
}

Objectives equal_parts(const TrainTest& data, const ModelSpec& model, std::uint32_t peers) {
  set_compute_threads(1);  // small products
  Objectives objectives;
  const std::uint32_t count = data.train->rows / peers;
  for (std::uint32_t i = 0; i < peers; ++i)
    objectives.push_back(make_objective(model, share_of(data, i * count, count, i)));
  return objectives;
}

TEST(Calibration, KnowsTheQuadratic) {
  const QuadraticSpec spec{.dimension = 40,
                           .hessian = {2, 1, 0.5, 0.1},
                           .noise = 0.5,
                           .spread = 3,
                           .start = 1,
                           .centers = {}};
  Objectives peers;
  for (std::uint32_t i = 0; i < 8; ++i) peers.push_back(make_quadratic(spec, i, 8, Rng(5)));
  const std::vector<float> x(40, 1.0F);
  const Calibration c = calibrate(peers, x, {.draws = 4096}, Rng(1));
  EXPECT_NEAR(c.curvature, 2, 0.01);
  EXPECT_NEAR(c.trace, 36, 0.2);
  EXPECT_NEAR(c.noise, 10, 0.2);            // 40 coordinates of 0.25
  EXPECT_NEAR(c.noise_curvature, 9, 0.25);  // 0.25 tr H
  const auto centers = quadratic_centers(spec, 8, Rng(5));
  double spread = 0;
  for (std::size_t k = 0; k < 40; ++k) {
    double mean = 0;
    for (const auto& b : centers) mean += b[k] / 8;
    for (const auto& b : centers) spread += std::pow(spec.hessian[k % 4] * (b[k] - mean), 2) / 8;
  }
  EXPECT_NEAR(c.spread, spread, 0.01 * spread);
  double parts = 0, traces = 0;
  for (const CurvatureShare& part : c.noise_parts) parts += part.value;
  for (const auto& d : c.deviations)
    for (std::size_t i = 0; i < 8; ++i) traces += d.gram[i * 9] / 8;
  EXPECT_NEAR(parts, c.noise, 1e-6 * c.noise);
  EXPECT_NEAR(traces, c.spread, 1e-6 * c.spread);
  EXPECT_EQ(c.epoch, 0);
}

/// Residuals r_i = a_i . x - y_i give H = A^T A / N, S = mean of r_i^2 a_i a_i^T minus g g^T.
TEST(Calibration, KnowsLinearRegression) {
  const TrainTest data = make_linear(2000, 8, 5, 1.0, Rng(3));
  Objectives peers = equal_parts(data, {.kind = "linear"}, 1);
  const std::vector<float> x(6, 0.25F);
  const Dataset& d = *data.train;
  double trace = 0, square = 0;
  Doubles g(6);
  for (std::uint32_t r = 0; r < d.rows; ++r) {
    Doubles a(6, 1.0);
    for (std::size_t k = 0; k < 5; ++k) a[k] = static_cast<double>(d.floats[r * 5 + k]);
    const double residual = dot(a, Doubles(6, 0.25)) - static_cast<double>(d.targets[r]);
    trace += dot(a, a) / 2000;
    square += residual * residual * dot(a, a) / 2000;
    add_scaled(g, residual / 2000, a);
  }
  const Calibration c =
      calibrate(peers, x, {.batch = 10, .curvature_samples = 2000, .draws = 8000}, Rng(1));
  EXPECT_NEAR(c.trace, trace, 0.01 * trace);
  EXPECT_NEAR(c.gradient_square, dot(g, g), 1e-4 * dot(g, g));
  const double fresh = (square - dot(g, g)) * 2000 / 1999 / 10;
  EXPECT_NEAR(c.noise, fresh, 0.03 * fresh);
  EXPECT_EQ(c.epoch, 200);
}

/// Compares the Hessian of a small softmax, column by column, with the estimator's figures.
TEST(Calibration, KnowsTheHessianOfASoftmax) {
  const TrainTest blobs = make_blobs(400, 8, 6, 3, 2, Rng(1));
  const ModelSpec model{.kind = "softmax"};
  Objectives peers = equal_parts(blobs, model, 4);
  const std::size_t d = peers[0]->size();
  std::vector<float> x(d);
  Rng rng(3);
  for (float& v : x) v = 0.3F * static_cast<float>(rng.normal());
  double trace = 0;
  for (std::size_t k = 0; k < d; ++k) {
    Doubles up(d), down(d);
    std::vector<float> there = x;
    there[k] = x[k] + 1e-2F;
    mean_gradient(equal_parts(blobs, model, 4), there, 100, up);
    there[k] = x[k] - 1e-2F;
    mean_gradient(equal_parts(blobs, model, 4), there, 100, down);
    trace += (up[k] - down[k]) / 2e-2;
  }
  const Calibration c =
      calibrate(peers, x, {.batch = 8, .curvature_samples = 400, .probes = 8}, Rng(1));
  EXPECT_NEAR(c.trace, trace, 0.02 * trace);
  EXPECT_LT(c.curvature, trace);
  EXPECT_GT(c.curvature, trace / static_cast<double>(d));
}

TEST(Calibration, IsTheSameForTheSameSeedAndLeavesNoTrace) {
  const TrainTest blobs = make_blobs(400, 8, 6, 3, 2, Rng(1));
  const ModelSpec model{"mlp", {{"hidden", Widths{5}}}};
  Objectives peers = equal_parts(blobs, model, 4);
  std::vector<float> x(peers[0]->size());
  peers[0]->initialize(x, Rng(2));
  const Calibration a = calibrate(peers, x, {.batch = 8}, Rng(1));
  const Calibration b = calibrate(peers, x, {.batch = 8}, Rng(1));
  EXPECT_EQ(a.noise, b.noise);
  EXPECT_EQ(a.trace, b.trace);
  EXPECT_EQ(a.curvature, b.curvature);
  EXPECT_GT(a.spread, 0);
  std::vector<float> g(x.size()), fresh(x.size());
  peers[1]->value_and_gradient(x, 8, g);
  equal_parts(blobs, model, 4)[1]->value_and_gradient(x, 8, fresh);
  EXPECT_EQ(g, fresh);
}

TEST(Calibration, RefusesWhatHasNoNoise) {
  const TrainTest blobs = make_blobs(40, 8, 6, 3, 2, Rng(1));
  Objectives peers = equal_parts(blobs, {.kind = "softmax"}, 4);
  const std::vector<float> x(peers[0]->size());
  EXPECT_THROW(calibrate(peers, x, {.batch = 10}, Rng(1)), std::invalid_argument);
  EXPECT_THROW(calibrate({}, x, {}, Rng(1)), std::invalid_argument);
}

}  // namespace
}  // namespace gv
