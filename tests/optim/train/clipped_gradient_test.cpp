#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "optim/host/dot.h"
#include "optim/state.h"
#include "optim/train/predictor.h"
#include "optim/train/wrapped_objective.h"
#include "tests/optim/data/test_data.h"

namespace gv {
namespace {

std::unique_ptr<Objective> bowl(double center, double noise = 0) {
  const QuadraticSpec spec{.dimension = 4,
                           .hessian = {1, 2},
                           .noise = noise,
                           .spread = 0,
                           .start = 0,
                           .centers = {{center, center, center, center}}};
  return make_quadratic(spec, 0, 1, Rng(1));
}

std::vector<float> gradient(Objective& of, const std::vector<float>& x) {
  std::vector<float> g(x.size());
  of.value_and_gradient(x, 1, g);
  return g;
}

TEST(ClippedGradient, IsTheGradientShortenedToTheNorm) {
  const std::vector<float> x{3, 1, -2, 5};
  const std::vector<float> full = gradient(*bowl(0.5), x);
  const double length = std::sqrt(dot(full, full));
  ASSERT_GT(length, 9);
  for (const double norm : {0.1, 1.0, 9.0}) {
    const std::vector<float> clipped = gradient(*make_clipped(bowl(0.5), norm), x);
    EXPECT_NEAR(std::sqrt(dot(clipped, clipped)), norm, 1e-6 * norm);
    for (std::size_t k = 0; k < 4; ++k)
      EXPECT_NEAR(clipped[k], double{full[k]} * norm / length, 1e-6 * norm);
  }
}

TEST(ClippedGradient, LeavesAShorterOneAsItIsToTheBit) {
  const std::vector<float> x{0.1F, 0.2F, -0.3F, 0.4F};
  EXPECT_EQ(gradient(*make_clipped(bowl(0), 1), x), gradient(*bowl(0), x));
}

/// Clipping changes the gradient, not the loss.
TEST(ClippedGradient, ChangesNoLoss) {
  const std::vector<float> x{3, 1, -2, 5};
  std::vector<float> g(4);
  const double loss = bowl(0)->value_and_gradient(x, 1, g);
  EXPECT_EQ(make_clipped(bowl(0), 0.1)->value_and_gradient(x, 1, g), loss);
  EXPECT_EQ(make_clipped(bowl(0), 0.1)->evaluate(x).loss, bowl(0)->evaluate(x).loss);
}

/// Clipping to a finite gradient would hide the failure.
TEST(ClippedGradient, LeavesWhatIsNotFinite) {
  const float infinite = std::numeric_limits<float>::infinity();
  const std::vector<float> g = gradient(*make_clipped(bowl(0), 1), {infinite, 1, 1, 1});
  EXPECT_EQ(g[0], infinite);
  EXPECT_EQ(g[1], 2);
}

/// The samples of a whole minibatch give the bits of value_and_gradient(), clipped alike.
TEST(ClippedGradient, OfSamplesThatTravelledIsTheSame) {
  const auto share = [] { return whole(make_blobs(24, 8, 6, 3, 2, Rng(1))); };
  const auto plain = make_clipped(make_objective({.kind = "softmax"}, share()), 0.01);
  const auto supplied = make_clipped(make_objective({.kind = "softmax"}, share()), 0.01);
  std::vector<float> x(plain->size());
  Rng(3).fill_normal(x);
  std::vector<float> own(x.size());
  std::vector<float> theirs(x.size());
  const double loss = plain->value_and_gradient(x, 8, own);
  const std::vector<Slice> slices = supplied->draw(8, 1);
  ASSERT_EQ(slices.size(), 1U);
  EXPECT_EQ(supplied->gradient_over(x, *slices[0].samples, theirs), loss);
  EXPECT_EQ(own, theirs);
  EXPECT_NEAR(std::sqrt(dot(own, own)), 0.01, 1e-7);
}

TEST(ClippedGradient, SavesWhereItsMinibatchesStand) {
  const std::vector<float> x{1, 2, 3, 4};
  const auto first = make_clipped(bowl(0, 1), 0.5);
  gradient(*first, x);
  StateWriter state;
  first->save(state);
  const auto second = make_clipped(bowl(0, 1), 0.5);
  StateReader in(state.bytes());
  second->restore(in);
  EXPECT_EQ(gradient(*second, x), gradient(*first, x));
}

}  // namespace
}  // namespace gv
