#include <cmath>
#include <numeric>

#include <gtest/gtest.h>

#include "graph/predict/local.h"
#include "graph/predict/quadratic.h"
#include "graph/predict/transient.h"
#include "graph/topologies.h"
#include "graph/weights.h"

namespace gv {
namespace {

MixingMatrix weights_of(const std::string& topology, PeerId n) {
  return mixing_matrix("metropolis", build(parse_topology(topology), n));
}

/// Returns the model of the quadratic with centres b, relative to its optimum.
LocalModel seen_from_optimum(const QuadraticFleet& f, const std::vector<std::vector<double>>& b) {
  const std::size_t n = b.size();
  LocalModel model{
      .peers = static_cast<PeerId>(n), .noise = {}, .epoch = 0, .pulls = {}, .drift = {}};
  for (std::size_t k = 0; k < f.hessian.size(); ++k) {
    const double h = f.hessian[k];
    model.noise.push_back({h, f.noise});
    double mean = 0;
    for (const auto& row : b) mean += row[k] / static_cast<double>(n);
    LocalModel::Pull pull{{{h, 1}}, {}};
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < n; ++j)
        pull.gram.push_back(h * h * (b[i][k] - mean) * (b[j][k] - mean));
    model.pulls.push_back(pull);
  }
  return model;
}

TEST(PredictLocal, IsTheExactPredictionOnQuadratics) {
  const QuadraticFleet fleet{.hessian = {1, 0.5, 0.1}, .noise = 0.7, .rate = 0.1};
  for (const char* topology : {"ring", "star", "path", "torus", "exponential"}) {
    for (const char* order : {"lian", "atc", "cta"}) {
      SCOPED_TRACE(std::string(topology) + " " + order);
      const PeerId n = 16;
      std::vector<std::vector<double>> b(n);
      for (PeerId i = 0; i < n; ++i) b[i] = {std::sin(i), std::cos(2.0 * i), 0.1 * i};
      const MixingMatrix w = weights_of(topology, n);
      QuadraticFleet f = fleet;
      f.order = order;
      const auto exact = predict_centers(w, modes_of(w), f, b);
      const Stationary local =
          LocalPredictor(PullModes(w), seen_from_optimum(f, b)).after(f, 1 << 20);
      EXPECT_NEAR(local.consensus.value, exact->consensus.value, 1e-7 * exact->consensus.value);
      EXPECT_NEAR(local.excess_mean.value, exact->excess_mean.value, 1e-7);
      EXPECT_NEAR(local.excess_local.value, exact->excess_local.value, 1e-7);
    }
  }
}

TEST(PredictLocal, AgreesWithTheTransientOfWhiteNoise) {
  const QuadraticFleet f{.hessian = {0.3}, .noise = 2, .rate = 0.2, .order = "atc"};
  const MixingMatrix w = weights_of("ring", 8);
  LocalModel model{.peers = 8, .noise = {{0.3, 2}}, .epoch = 0, .pulls = {}, .drift = {}};
  for (const std::uint64_t t : {1U, 7U, 100U}) {
    const Stationary exact = predict_after(modes_of(w), f, 0, t);
    const Stationary local = LocalPredictor(PullModes(w), model).after(f, t);
    EXPECT_NEAR(local.consensus.value, exact.consensus.value, 1e-12);
    EXPECT_NEAR(local.excess_mean.value, exact.excess_mean.value, 1e-12);
  }
}

/// Returns the covariance of without-replacement noise, summed over every pair of rounds.
double by_pairs(double a, double gamma, std::uint64_t epoch, std::uint64_t rounds) {
  double sum = 0;
  for (std::uint64_t s = 0; s < rounds; ++s) {
    for (std::uint64_t t = 0; t < rounds; ++t) {
      if (s / epoch != t / epoch) continue;
      const double c = (s == t ? 1.0 : 0.0) - 1 / static_cast<double>(epoch);
      sum += c * std::pow(a, static_cast<double>(rounds - 1 - s)) *
             std::pow(a, static_cast<double>(rounds - 1 - t));
    }
  }
  return gamma * gamma * sum;
}

TEST(PredictLocal, NoiseCancelsOverAnEpoch) {
  constexpr double gamma = 0.1, h = 0.4;
  constexpr std::uint64_t epoch = 5, whole = 3;
  const MixingMatrix w = weights_of("complete", 2);
  const LocalModel model{.peers = 2, .noise = {{h, 1}}, .epoch = epoch, .pulls = {}, .drift = {}};
  const QuadraticFleet f{.rate = gamma, .order = "lian"};
  const Stationary s = LocalPredictor(PullModes(w), model).after(f, whole * epoch);
  double mean = 0, consensus = 0;
  for (std::uint64_t r = 1; r <= epoch; ++r) {
    mean += by_pairs(1 - gamma * h, gamma, epoch, whole * epoch + r) / epoch;
    consensus += by_pairs(-gamma * h, gamma, epoch, whole * epoch + r) / epoch;
  }
  EXPECT_NEAR(s.excess_mean.value, h * mean / 4, 1e-12);
  EXPECT_NEAR(s.consensus.value, consensus / 2, 1e-12);
}

/// If averaging is complete, its modes are zero.
TEST(PredictLocal, NobodyIsApartBeforeTheFirstRound) {
  const QuadraticFleet f{.hessian = {1}, .noise = 1, .rate = 0.1, .order = "atc"};
  const MixingMatrix w = weights_of("complete", 4);
  const LocalModel model = seen_from_optimum(f, {{1}, {2}, {3}, {-6}});
  EXPECT_EQ(LocalPredictor(PullModes(w), model).after(f, 0).consensus.value, 0);
  EXPECT_EQ(LocalPredictor(PullModes::exact_averaging(4), model).after(f, 0).consensus.value, 0);
}

TEST(PredictLocal, GrowsWithoutBoundBeyondTheStabilityLimit) {
  const MixingMatrix w = weights_of("star", 8);
  for (const double epoch : {0.0, 16.0}) {
    const LocalModel model{.peers = 8, .noise = {{1, 1}}, .epoch = epoch, .pulls = {}, .drift = {}};
    const QuadraticFleet f{.rate = 1.3, .order = "lian"};  // 1 + lambda_n = 1
    const Stationary s = LocalPredictor(PullModes(w), model).after(f, 1 << 14);
    EXPECT_FALSE(s.consensus.value < 1e50);
    EXPECT_TRUE(std::isfinite(s.excess_mean.value));
  }
}

TEST(PredictLocal, MomentumAndOtherPeersThanW) {
  const QuadraticFleet f{.hessian = {0.5}, .noise = 1, .rate = 0.05, .momentum = 0.9};
  const MixingMatrix w = weights_of("ring", 6);
  LocalModel model{.peers = 6, .noise = {{0.5, 1}}, .epoch = 0, .pulls = {}, .drift = {}};
  const auto exact = predict(modes_of(w), f);
  const Stationary local = LocalPredictor(PullModes(w), model).after(f, 1 << 16);
  EXPECT_NEAR(local.consensus.value, exact->consensus.value, 1e-9);
  EXPECT_NEAR(local.excess_mean.value, exact->excess_mean.value, 1e-9);
  model.peers = 7;
  EXPECT_THROW(LocalPredictor(PullModes(w), model), std::invalid_argument);
}

/// Returns a model with pulls; `sampled`: share of the drift that small samples cause.
LocalModel pulled(PeerId n, double epoch, double sampled) {
  LocalModel m{.peers = n, .noise = {}, .epoch = epoch, .pulls = {}, .drift = {}};
  m.pulls.push_back({{{1e-9, 1}}, std::vector<double>(std::size_t{n} * n)});
  m.drift = {.adjoints = 1,
             .sources = {{{2}, {0}}},
             .lasting = {{0.01, {-0.02}, {1e-4}}, {10, {-20}, {100}}},
             .sampled = sampled};
  return m;
}

TEST(PredictLocal, PullsPushTheMeanForAsLongAsAveragingRemembers) {
  const PeerId n = 8;
  const MixingMatrix w = weights_of("ring", n);
  const QuadraticFleet f{.rate = 0.1, .order = "lian"};
  const std::uint64_t epoch = 4;
  double all = 0, earlier = 0;
  for (PeerId j = 1; j < n; ++j) {
    const double lambda = (1 + 2 * std::cos(2 * M_PI * j / n)) / 3;
    const double memory = 0.1 / (1 - lambda);
    all += memory / (n - 1);
    for (std::uint64_t r = 0; r < epoch; ++r)
      earlier += memory * std::pow(lambda, static_cast<double>(r)) / epoch / (n - 1);
  }
  const auto push = [&](double sampled) {
    return LocalPredictor(PullModes(w), pulled(n, epoch, sampled)).push(f, 1 << 16);
  };
  ASSERT_EQ(push(0).size(), 1U);
  EXPECT_NEAR(push(0)[0].shares, -2 * all, 1e-6);
  EXPECT_EQ(push(0)[0].epoch, 0);
  const double of_mean = 0.1 * (epoch - 1) / 2.0 / (n - 1);  // which forgets nothing
  EXPECT_NEAR(push(1)[0].shares + push(1)[0].epoch, -2 * (earlier - of_mean), 1e-6);
  // For the rest, half each.
  EXPECT_NEAR(push(0.5)[0].shares, -2 * all, 1e-6);
  EXPECT_NEAR(push(0.5)[0].epoch, push(1)[0].epoch / 2, 1e-9);
}

/// A displacement of either sign meets the slope of the curvature, in proportion to its square.
TEST(PredictLocal, PullsPushToSecondOrderByTheirSquare) {
  const PeerId n = 8;
  const MixingMatrix w = weights_of("ring", n);
  const LocalPredictor predictor(PullModes(w), pulled(n, 4, 1));
  double squares = 0;
  for (PeerId j = 1; j < n; ++j) {
    const double lambda = (1 + 2 * std::cos(2 * M_PI * j / n)) / 3;
    squares += std::pow(0.1 / (1 - lambda), 2) / (n - 1);
  }
  EXPECT_NEAR(predictor.push({.rate = 0.1, .order = "lian"}, 1 << 16)[0].second, squares, 1e-9);
}

TEST(PredictLocal, PullsAreFeltAsFarAsTheyHaveCome) {
  const PeerId n = 4;
  const MixingMatrix w = weights_of("path", n);
  const QuadraticFleet f{.rate = 0.1, .order = "atc"};
  LocalModel model = pulled(n, 0, 1);
  double expected = 0;
  const PullModes modes(w);
  for (const Mode& mode : modes.modes()) {
    double z = 0;
    for (int t = 0; t < 5; ++t) z = mode.values[0].real() * (z + 0.1);
    expected -= 2 * mode.count * z / (n - 1);
  }
  EXPECT_NEAR(LocalPredictor(PullModes(w), model).push(f, 5)[0].shares, expected, 1e-6);
}

TEST(PredictLocal, NoisePushesByItsVarianceAtTheGradients) {
  const MixingMatrix w = weights_of("complete", 2);
  LocalModel model{.peers = 2, .noise = {{0.5, 3}}, .epoch = 0, .pulls = {}, .drift = {}};
  model.drift = {.adjoints = 1, .sources = {{{0}, {7}}}, .lasting = {}, .sampled = 0};
  const LocalPredictor predictor(PullModes(w), model);
  for (const char* order : {"lian", "atc"}) {
    const QuadraticFleet f{.hessian = {0.5}, .noise = 3, .rate = 0.1, .order = order};
    const auto exact = predict(modes_of(w), f);
    EXPECT_NEAR(predictor.push(f, 1 << 16)[0].curvature, 7 * exact->excess_local.value / 0.25,
                1e-9);
  }
  QuadraticFleet f{.rate = 0.1, .order = "atc"};
  const double atc = predictor.push(f, 1000)[0].curvature;
  f.order = "cta";
  EXPECT_EQ(predictor.push(f, 1000)[0].curvature, atc);
  EXPECT_GT(std::abs(atc), 0);
  f.rate = 5;  // beyond 2 / h: as at the edge, where noise adds up without growing
  EXPECT_NEAR(predictor.push(f, 1000)[0].curvature, 7.0 / 2 * 1000 * 25 * 3, 1);
}

/// Compares changing rates, momentum and an epoch's noise with the recursion in rounds.
TEST(PredictLocal, FollowsRatesThatChange) {
  constexpr std::uint64_t rounds = 960, epoch = 8;
  constexpr double h = 0.4;
  const auto rate = [](std::uint64_t t) {
    return 0.1 * (1 + std::cos(M_PI * static_cast<double>(t) / (rounds + 400)));
  };
  const MixingMatrix w = weights_of("ring", 8);
  LocalModel model{.peers = 8, .noise = {{h, 1}}, .epoch = epoch, .pulls = {}, .drift = {}};
  model.pulls.push_back({{{h, 1}}, std::vector<double>(64)});
  for (PeerId i = 0; i < 8; ++i)  // the gradients +1 and -1 in turn, less their mean 0
    for (PeerId j = 0; j < 8; ++j) model.pulls[0].gram[i * 8 + j] = (i + j) % 2 == 0 ? 1 : -1;
  for (const double momentum : {0.0, 0.8}) {
    QuadraticFleet f{.momentum = momentum, .order = "lian"};
    const RateCourse course(rate, rounds + epoch, momentum);
    const Stationary s = LocalPredictor(PullModes(w), model).after(f, course, rounds);
    double consensus = 0, mean = 0;
    for (PeerId j = 0; j < 8; ++j) {
      const double lambda = (1 + 2 * std::cos(2 * M_PI * j / 8)) / 3;
      // Sums the remaining effect of every minibatch at the end of each round of the last epoch.
      for (std::uint64_t end = rounds + 1; end <= rounds + epoch; ++end) {
        double power = 0;
        for (std::uint64_t e = 0; e * epoch < end; ++e) {
          double sum = 0, squares = 0;
          for (std::uint64_t t = e * epoch; t < std::min(end, (e + 1) * epoch); ++t) {
            double x = 0, u = 0;
            for (std::uint64_t r = t; r < end; ++r) {
              u = momentum * u + h * x + (r == t ? 1 : 0);
              x = lambda * x - course.rate(std::min<std::uint64_t>(r, rounds - 1)) * u;
            }
            sum += x;
            squares += x * x;
          }
          power += squares - sum * sum / epoch;
        }
        (j == 0 ? mean : consensus) += power / epoch;
      }
    }
    double x = 0, u = 0;  // the pull is the mode of eigenvalue -1/3
    for (std::uint64_t r = 0; r < rounds; ++r) {
      u = momentum * u + h * x + 1;
      x = -x / 3 - course.rate(r) * u;
    }
    EXPECT_NEAR(s.consensus.value, consensus / 8 + x * x, 0.035 * s.consensus.value) << momentum;
    EXPECT_NEAR(s.excess_mean.value, h * mean / 16, 0.03 * s.excess_mean.value) << momentum;
  }
}

TEST(PredictLocal, KnowsNesterovsMomentum) {
  const QuadraticFleet f{
      .hessian = {0.5}, .noise = 1, .rate = 0.05, .momentum = 0.9, .nesterov = true};
  const MixingMatrix w = weights_of("ring", 4);
  const auto exact = predict(modes_of(w), f);
  double consensus = 0;
  for (const double lambda : {1.0 / 3, 1.0 / 3, -1.0 / 3}) {
    double x = 0, u = 0;
    double power = 0;
    for (int t = 0; t < 4000; ++t) {  // remaining effect of one draw by round
      const double g = 0.5 * x + (t == 0 ? 1 : 0);
      u = 0.9 * u + g;
      x = lambda * x - 0.05 * (g + 0.9 * u);
      power += x * x;
    }
    consensus += power / 4;
  }
  EXPECT_NEAR(exact->consensus.value, consensus, 1e-9);
}

}  // namespace
}  // namespace gv
