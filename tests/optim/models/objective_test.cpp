#include "optim/models/objective.h"

#include <cmath>
#include <functional>
#include <stdexcept>

#include <gtest/gtest.h>

#include "optim/train/predictor.h"
#include "tests/optim/data/test_data.h"

namespace gv {
namespace {

using Make = std::function<std::unique_ptr<Objective>()>;
struct Named {
  const char* name;
  Make make;
};

/// Returns objectives; each call makes one whose next minibatch is its whole share.
std::vector<Named> every_objective() {
  const TrainTest blobs = make_blobs(24, 8, 6, 3, 2, Rng(1));
  const TrainTest linear = make_linear(24, 8, 6, 0.1, Rng(1));
  const TrainTest sparse = draw_sparse(24, 8, 6, 3, 0.1, Rng(1));
  QuadraticSpec quadratic{
      .dimension = 7, .hessian = {1, 0.5}, .noise = 0, .spread = 1, .start = 0.3, .centers = {}};
  return {{"softmax", [=] { return make_objective({.kind = "softmax"}, whole(blobs)); }},
          {"mlp",
           [=] {
             return make_objective({"mlp", {{"hidden", Widths{5, 4}}}}, whole(blobs));
           }},
          {"logistic", [=] { return make_objective({.kind = "logistic"}, whole(sparse)); }},
          {"linear", [=] { return make_objective({.kind = "linear"}, whole(linear)); }},
          {"quadratic", [=] { return make_quadratic(quadratic, 1, 3, Rng(5)); }}};
}

TEST(Objective, GradientsAgreeWithCentralDifferences) {
  for (const Named& objective : every_objective()) {
    SCOPED_TRACE(objective.name);
    const std::size_t d = objective.make()->size();
    std::vector<float> x(d);
    objective.make()->initialize(x, Rng(2));
    Rng rng(3);
    for (float& v : x) v += 0.3F * static_cast<float>(rng.normal());
    std::vector<float> g(d);
    objective.make()->value_and_gradient(x, 24, g);
    std::vector<float> scratch(d);
    for (std::size_t k = 0; k < d; ++k) {
      constexpr float h = 1e-3F;  // small: a step across a ReLU's kink gives no derivative
      std::vector<float> up = x;
      std::vector<float> down = x;
      up[k] += h;
      down[k] -= h;
      const double difference = objective.make()->value_and_gradient(up, 24, scratch) -
                                objective.make()->value_and_gradient(down, 24, scratch);
      const double slope = difference / (static_cast<double>(up[k]) - static_cast<double>(down[k]));
      EXPECT_NEAR(static_cast<double>(g[k]), slope, 1e-3 + 1e-2 * std::abs(slope))
          << "parameter " << k;
    }
  }
}

TEST(Objective, MinibatchesAreTheSameForTheSameSeed) {
  for (const Named& objective : every_objective()) {
    const auto a = objective.make();
    const auto b = objective.make();
    std::vector<float> x(a->size(), 0.1F);
    std::vector<float> ga(a->size());
    std::vector<float> gb(a->size());
    for (int step = 0; step < 9; ++step) {
      EXPECT_EQ(a->value_and_gradient(x, 5, ga), b->value_and_gradient(x, 5, gb));
      EXPECT_EQ(ga, gb);
    }
  }
}

TEST(Objective, NamesAndShapesArePyTorchs) {
  const TrainTest blobs = make_blobs(24, 8, 6, 3, 2, Rng(1));
  const auto mlp = make_objective({"mlp", {{"hidden", Widths{5}}}}, whole(blobs))->parameters();
  ASSERT_EQ(mlp.size(), 4U);
  EXPECT_EQ(mlp[0].name, "fc1.weight");
  EXPECT_EQ(mlp[0].shape, (std::vector<std::uint32_t>{5, 6}));
  EXPECT_EQ(mlp[3].name, "fc2.bias");
}

TEST(Objective, AnMlpLearnsBlobs) {
  const TrainTest blobs = make_blobs(600, 200, 8, 4, 10, Rng(1));
  const auto mlp = make_objective({"mlp", {{"hidden", Widths{16}}}}, whole(blobs));
  std::vector<float> x(mlp->size());
  std::vector<float> g(mlp->size());
  mlp->initialize(x, Rng(2));
  for (int step = 0; step < 300; ++step) {
    mlp->value_and_gradient(x, 32, g);
    for (std::size_t k = 0; k < x.size(); ++k) x[k] -= 0.1F * g[k];
  }
  EXPECT_GT(*mlp->evaluate(x).accuracy, 0.95);
}

/// Found when two centres were read beyond their end in a fleet of three peers.
TEST(Quadratic, RefusesCentresOfAnotherNumberOfPeers) {
  const QuadraticSpec spec{.dimension = 2, .centers = {{0, 0}, {2, 4}}};
  for (const std::uint32_t peers : {1U, 3U}) {
    EXPECT_THROW(make_quadratic(spec, 0, peers, Rng(1)), std::invalid_argument);
    EXPECT_THROW(quadratic_optimum(spec, peers, Rng(1)), std::invalid_argument);
    EXPECT_THROW(quadratic_centers(spec, peers, Rng(1)), std::invalid_argument);
  }
  EXPECT_THROW(make_quadratic({.dimension = 0, .centers = {}}, 0, 1, Rng(1)),
               std::invalid_argument);
  EXPECT_THROW(make_quadratic({.hessian = {}, .centers = {}}, 0, 1, Rng(1)), std::invalid_argument);
}

TEST(Quadratic, EvaluatesTheExcessOverTheFleetsOptimum) {
  const QuadraticSpec spec{.dimension = 2,
                           .hessian = {2},
                           .noise = 0,
                           .spread = 0,
                           .start = 0,
                           .centers = {{0, 0}, {2, 4}}};
  const std::vector<float> optimum{1, 2};
  const std::vector<float> away{2, 2};
  EXPECT_NEAR(make_quadratic(spec, 0, 2, Rng(1))->evaluate(optimum).loss, 0, 1e-12);
  EXPECT_NEAR(make_quadratic(spec, 1, 2, Rng(1))->evaluate(away).loss, 1, 1e-12);
}

}  // namespace
}  // namespace gv
