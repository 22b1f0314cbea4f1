#include <cmath>

#include <gtest/gtest.h>

#include "optim/host/slices.h"
#include "optim/replica/host_replica.h"
#include "optim/train/predictor.h"
#include "peer/study/predict/calibrate/local_calibration.h"
#include "tests/optim/data/test_data.h"

namespace gv {
namespace {

using Objectives = std::vector<std::unique_ptr<Objective>>;

Objectives two_softmaxes() {
  set_compute_threads(1);
  Objectives peers;
  for (std::uint64_t i = 0; i < 2; ++i)
    peers.push_back(make_objective({.kind = "softmax"}, whole(make_blobs(24, 8, 6, 3, 2, Rng(i)))));
  return peers;
}

TEST(PeerGradients, TheMeanIsOverThePeers) {
  const Objectives peers = two_softmaxes();
  const std::vector<float> x(peers[0]->size(), 0.1F);
  std::vector<double> mean(x.size());
  const double loss = mean_gradient(peers, x, 24, mean);
  std::vector<float> a(x.size());
  std::vector<float> b(x.size());
  const Objectives again = two_softmaxes();
  const double losses =
      again[0]->value_and_gradient(x, 24, a) + again[1]->value_and_gradient(x, 24, b);
  EXPECT_NEAR(loss, losses / 2, 1e-12);
  for (std::size_t k = 0; k < x.size(); ++k)
    EXPECT_NEAR(mean[k], (static_cast<double>(a[k]) + static_cast<double>(b[k])) / 2, 1e-12);
}

/// 1001 samples in four parts, of which one has a sample more.
TEST(PeerGradients, AGradientOfManySamplesIsThatOfItsParts) {
  set_compute_threads(1);
  const TrainTest data = make_blobs(1001, 8, 6, 3, 2, Rng(4));
  const auto whole_of = [&] { return make_objective({.kind = "softmax"}, whole(data)); };
  const std::unique_ptr<Objective> in_parts = whole_of();
  const std::unique_ptr<Objective> at_once = whole_of();
  const std::vector<float> x(in_parts->size(), 0.1F);
  std::vector<float> a(x.size());
  std::vector<float> b(x.size());
  EXPECT_NEAR(gradient_in_parts(*in_parts, x, 1001, a), at_once->value_and_gradient(x, 1001, b),
              1e-6);
  for (std::size_t k = 0; k < x.size(); ++k) EXPECT_NEAR(a[k], b[k], 1e-6) << k;
  EXPECT_EQ(gradient_in_parts(*in_parts, x, 200, a), at_once->value_and_gradient(x, 200, b));
  EXPECT_EQ(a, b) << "as many samples are behind both, and so few are taken at once";
}

/// The draws of an epoch, from a share of N samples in batches of b, have a mean deviation of zero.
/// Each deviates as one of fresh samples does, N / (N - b) times the deviation within the share.
TEST(PeerGradients, DrawsDeviateFromTheFullGradientAndAreTheSameEachTime) {
  const Objectives peers = two_softmaxes();
  const std::vector<float> x(peers[0]->size(), 0.1F);
  PeerGradients at(peers, x, 6, 8, 48);
  ASSERT_EQ(at.draws(), 4U);  // an epoch of each
  EXPECT_EQ(at.epoch(), 4);
  EXPECT_TRUE(at.exact());
  const std::vector<Doubles> full{at.full(0).gradient, at.full(1).gradient};
  std::vector<Doubles> first;
  std::vector<Doubles> second;
  at.each_draw(full, [&](const Doubles& xi) { first.push_back(xi); });
  at.each_draw(full, [&](const Doubles& xi) { second.push_back(xi); });
  EXPECT_EQ(first, second);
  ASSERT_EQ(first.size(), 8U);
  for (std::size_t k = 0; k < x.size(); ++k)
    EXPECT_NEAR(first[0][k] + first[1][k] + first[2][k] + first[3][k], 0, 1e-6);
  const Objectives fresh = two_softmaxes();
  std::vector<float> g(x.size());
  fresh[0]->value_and_gradient(x, 6, g);
  for (std::size_t k = 0; k < x.size(); ++k) {
    const double off = static_cast<double>(g[k]) - full[0][k];
    EXPECT_NEAR(first[0][k], std::sqrt(24.0 / 18) * off, 1e-12);
  }
}

TEST(PeerGradients, KnowsTheHessianOfTheQuadraticAndPutsItsNoiseBack) {
  const QuadraticSpec spec{
      .dimension = 4, .hessian = {2, 1, 0.5, 0.1}, .noise = 1, .spread = 1, .centers = {}};
  Objectives peers;
  for (std::uint32_t i = 0; i < 3; ++i) peers.push_back(make_quadratic(spec, i, 3, Rng(5)));
  const std::vector<float> x(4, 1.0F);
  {
    PeerGradients at(peers, x, 1, 12, 3);
    EXPECT_FALSE(at.exact());
    EXPECT_EQ(at.epoch(), 0);
    const Doubles image = at.hessian_times({1, -1, 2, 3});
    const Doubles expected{2, -1, 1, 0.3};
    for (std::size_t k = 0; k < 4; ++k) EXPECT_NEAR(image[k], expected[k], 1e-3);
    EXPECT_EQ(at.hessian_times({0, 0, 0, 0}), Doubles(4));
  }
  std::vector<float> used(4);
  std::vector<float> fresh(4);
  peers[1]->value_and_gradient(x, 1, used);
  make_quadratic(spec, 1, 3, Rng(5))->value_and_gradient(x, 1, fresh);
  EXPECT_EQ(used, fresh);
}

}  // namespace
}  // namespace gv
