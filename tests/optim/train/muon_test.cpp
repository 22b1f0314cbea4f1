#include "optim/train/muon.h"

#include <cmath>

#include <gtest/gtest.h>

#include "optim/host/dot.h"
#include "optim/replica/host_replica.h"
#include "optim/train/predictor.h"
#include "tests/optim/data/test_data.h"

// Compares with the vectors of muon_vectors.py, which NumPy computes independently, in double.

namespace gv {
namespace {

constexpr std::size_t d = 28;
const std::vector<HiddenMatrix> matrices{{3, 4, 3}, {17, 2, 5}};

const std::vector<double> orthogonal{-0.473601093, -0.483699375, 0.722622468,  -0.344300459,
                                     0.596249524,  0.218016217,  0.537685178,  -0.463276422,
                                     -0.326826906, 0.668975269,  -0.116456907, 0.738740077};
const std::vector<double> stepped{
    0.934131912, 0.477851149, -0.357997466, -0.973880830, -0.641751122, 0.267878786,
    0.952115432, 0.744159067, -0.152057790, -0.913088469, -0.829389083, 0.005544452,
    0.829308835, 0.894109494, 0.118754103,  -0.759930506, -0.924419554, -0.271777517,
    0.669632337, 0.976294120, 0.391098426,  -0.549374717, -0.983414922, -0.519710224,
    0.423639219, 0.983924497, 0.646572553,  -0.322930403};
const std::vector<double> stepped_by_nesterov{
    0.934131912, 0.477851149, -0.357997466, -0.973503303, -0.644169426, 0.268801152,
    0.951488907, 0.746538148, -0.152435500, -0.912546513, -0.833111260, 0.004068443,
    0.825839104, 0.896562644, 0.120127171,  -0.759930506, -0.924419554, -0.272761369,
    0.671128111, 0.979315869, 0.391986822,  -0.550337766, -0.984040394, -0.523145195,
    0.420119439, 0.984538764, 0.650032213,  -0.322930403};

std::vector<float> muon_gradient(int t) {
  std::vector<float> g(d);
  for (std::size_t k = 0; k < d; ++k) {
    const auto place = static_cast<double>(k);
    g[k] = static_cast<float>(std::sin(1 + 0.7 * place + 0.3 * t * place) +
                              0.5 * std::cos(place * place));
  }
  return g;
}

OptimizerSpec muon() {
  return {.kind = "muon",
          .lr = 0.02,
          .momentum = 0.95,
          .nesterov = true,
          .weight_decay = 0.1,
          .schedule = {}};
}

/// Steps in blocks of `block` elements, which may begin and end inside a matrix.
void step(Muon& optimizer, std::vector<float>& x, const std::vector<float>& g, std::size_t block) {
  optimizer.begin_step();
  optimizer.direct(g);
  for (std::size_t at = 0; at < d; at += block) {
    const std::size_t count = std::min(block, d - at);
    optimizer.apply(at, std::span(x).subspan(at, count), std::span(g).subspan(at, count));
  }
}

std::vector<float> start() {
  std::vector<float> x(d);
  for (std::size_t k = 0; k < d; ++k) x[k] = static_cast<float>(std::cos(static_cast<double>(k)));
  return x;
}

std::vector<float> after_three_steps(const OptimizerSpec& spec, std::size_t block = d) {
  const auto optimizer = make_muon(spec, d, matrices);
  std::vector<float> x = start();
  for (int t = 1; t <= 3; ++t) step(*optimizer, x, muon_gradient(t), block);
  return x;
}

TEST(Muon, MakesAMatrixOrthogonalAsItsPostDoes) {
  const std::vector<float> g = muon_gradient(1);
  std::vector<float> tall(g.begin() + 3, g.begin() + 15);
  orthogonalize(tall, 4, 3);
  for (std::size_t k = 0; k < 12; ++k) EXPECT_NEAR(tall[k], orthogonal[k], 1e-5) << k;
}

/// The step of a transposed matrix is the transposed step, whichever product is taken.
TEST(Muon, TakesMatricesOfEitherShapeAlike) {
  const std::vector<float> g = muon_gradient(2);
  std::vector<float> wide(g.begin(), g.begin() + 15);
  std::vector<float> tall(15);
  for (std::size_t row = 0; row < 3; ++row)
    for (std::size_t column = 0; column < 5; ++column)
      tall[column * 3 + row] = wide[row * 5 + column];
  orthogonalize(wide, 3, 5);
  orthogonalize(tall, 5, 3);
  for (std::size_t row = 0; row < 3; ++row)
    for (std::size_t column = 0; column < 5; ++column)
      EXPECT_NEAR(tall[column * 3 + row], wide[row * 5 + column], 1e-5);
}

/// A matrix of large and small singular values alike: each comes out between 0.6 and 1.25.
TEST(Muon, StretchesAllDirectionsAlike) {
  std::vector<float> matrix(64 * 64);
  Rng rng(7);
  for (float& value : matrix) value = 1e3F * static_cast<float>(rng.normal());
  std::vector<float> o = matrix;
  orthogonalize(o, 64, 64);
  const double norm = std::sqrt(dot(o, o));
  EXPECT_GT(norm, 0.6 * 8);
  EXPECT_LT(norm, 1.25 * 8);
  std::vector<float> zero(64 * 64);
  orthogonalize(zero, 64, 64);
  EXPECT_EQ(dot(zero, zero), 0) << "no direction";
}

TEST(Muon, HasTheVectorsOfTheScript) {
  const std::vector<float> by_nesterov = after_three_steps(muon());
  for (std::size_t k = 0; k < d; ++k)
    EXPECT_NEAR(by_nesterov[k], stepped_by_nesterov[k], 2e-6) << k;
  OptimizerSpec plain = muon();
  plain.nesterov = false;
  const std::vector<float> x = after_three_steps(plain);
  for (std::size_t k = 0; k < d; ++k) EXPECT_NEAR(x[k], stepped[k], 2e-6) << k;
}

/// x comes piece by piece in one pass with mixing.
TEST(Muon, StepsInAnyBlocksToTheSameBits) {
  const std::vector<float> whole = after_three_steps(muon());
  for (const std::size_t block : {1U, 4U, 9U}) EXPECT_EQ(after_three_steps(muon(), block), whole);
}

/// AdamW to the bit for parameters between and after matrices, and in models without matrices.
TEST(Muon, IsAdamWWhereThereAreNoMatrices) {
  OptimizerSpec adamw = muon();
  adamw.kind = "adamw";
  const auto elementwise = make_optimizer(adamw, d);
  const auto none = make_muon(muon(), d, {});
  std::vector<float> x = start();
  std::vector<float> y = start();
  for (int t = 1; t <= 3; ++t) {
    elementwise->begin_step();
    elementwise->apply(0, x, muon_gradient(t));
    step(*none, y, muon_gradient(t), d);
  }
  EXPECT_EQ(y, x);
  const std::vector<float> with_matrices = after_three_steps(muon());
  for (const std::size_t k : {0U, 1U, 2U, 15U, 16U, 27U}) EXPECT_EQ(with_matrices[k], x[k]) << k;
  EXPECT_NE(with_matrices[3], x[3]);
}

TEST(Muon, GoesOnFromItsState) {
  OptimizerSpec spec = muon();
  spec.schedule = {.kind = "linear", .total = 8};
  const auto first = make_muon(spec, d, matrices);
  std::vector<float> x = start();
  for (int t = 1; t <= 3; ++t) step(*first, x, muon_gradient(t), d);
  StateWriter state;
  first->save(state);
  const auto second = make_muon(spec, d, matrices);
  StateReader in(state.bytes());
  second->restore(in);
  EXPECT_EQ(second->rate(), first->rate());
  std::vector<float> y = x;
  step(*first, x, muon_gradient(4), d);
  step(*second, y, muon_gradient(4), d);
  EXPECT_EQ(y, x);
  second->skip_to({8});
  EXPECT_EQ(second->rate(), 0);
  const auto other = make_muon(spec, d, {});
  StateReader again(state.bytes());
  EXPECT_THROW(other->restore(again), std::runtime_error) << "momentum of other matrices";
}

TEST(Muon, RefusesMatricesThatLieAcrossEachOther) {
  EXPECT_THROW(make_muon(muon(), d, {{3, 4, 3}, {14, 2, 5}}), std::invalid_argument);
  EXPECT_THROW(make_muon(muon(), d, {{20, 2, 5}}), std::invalid_argument);
  EXPECT_NO_THROW(make_muon(muon(), d, {{18, 2, 5}}));
}

/// One peer on a small network: mixing and stepping in one pass equals stepping.
TEST(Muon, StepsAReplica) {
  const NeuralNetwork network = mlp_network({.channels = 6}, {5, 4}, 3);
  const TrainTest blobs = make_blobs(24, 8, 6, 3, 2, Rng(1));
  const auto make = [&] {
    return make_host_replica(make_objective({"mlp", {{"hidden", Widths{5, 4}}}}, whole(blobs)),
                             muon(), 8, Rng(2), hidden_matrices(network));
  };
  const auto at_once = make();
  const auto in_pieces = make();
  const std::vector<float> before = x_of(*at_once);
  for (int t = 0; t < 3; ++t) {
    at_once->gradient_and_step();
    in_pieces->gradient();
    const std::size_t size = in_pieces->size();
    in_pieces->mix_and_step({0, 20}, {});
    in_pieces->mix_and_step({20, size - 20}, {});
  }
  EXPECT_EQ(x_of(*in_pieces), x_of(*at_once));
  EXPECT_NE(x_of(*at_once), before);
}

TEST(Muon, CostsItsMatrixProducts) {
  EXPECT_EQ(orthogonalize_flops(2, 5), 5 * (4 * 4 * 5 + 2 * 8));
  EXPECT_EQ(orthogonalize_flops(5, 2), orthogonalize_flops(2, 5));
  const TrainTest blobs = make_blobs(24, 8, 6, 3, 2, Rng(1));
  const auto objective = [&] { return make_objective({.kind = "softmax"}, whole(blobs)); };
  EXPECT_EQ(make_followed_by_muon(objective(), {{0, 2, 5}})->gradient_flops(8),
            objective()->gradient_flops(8) + orthogonalize_flops(2, 5));
}

}  // namespace
}  // namespace gv
