#include "optim/train/replica.h"

#include <algorithm>
#include <limits>

#include "optim/models/network_builder.h"
#include "tests/gpu/replica/replica_fixture.h"

namespace gv {
namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr float nan = std::numeric_limits<float>::quiet_NaN();

TEST_P(ReplicaTest, StartsAsItsNetworkDoes) {
  const auto replica = make();
  const NeuralNetwork network = make_network(mlp(20), *digits_share().train);
  std::vector<float> start(network.size());
  network.initialize(start, Rng(3));
  EXPECT_EQ(values(*replica), start);
}

TEST_P(ReplicaTest, RangesAreLoadedAddedScaledAndSeen) {
  const auto replica = make();
  const std::vector<float> piece = normal(4001, 3);
  for (const Vector v : {Vector::x, Vector::g}) {
    std::vector<float> expected = values(*replica, v);
    replica->load(v, {2, 4001}, *payload(piece));
    replica->add(v, {2, 4001}, *payload(piece));
    replica->scale(v, 0.75F);
    for (std::size_t k = 0; k < 4001; ++k) expected[2 + k] = piece[k] + piece[k];
    for (float& value : expected) value *= 0.75F;
    EXPECT_EQ(values(*replica, v), expected);
    Buffer out(7 * sizeof(float));
    replica->snapshot(v, {5, 7}, out);
    EXPECT_TRUE(std::ranges::equal(out.floats(), std::span(expected).subspan(5, 7)));
  }
}

/// Peers on both devices share the clock: that of the schedule, and of virtual time.
TEST_P(ReplicaTest, TellsTheRateThatComesAndTheWorkOfAGradient) {
  OptimizerSpec sgd = momentum_sgd();
  sgd.schedule.kind = "step";
  sgd.schedule.every = 2;
  const auto replica = make(20, sgd);
  for (std::uint64_t t = 0; t < 5; ++t) {
    EXPECT_EQ(replica->rate(), sgd.schedule.rate(sgd.lr, {t}));
    replica->gradient_and_step();
  }
  const NeuralNetwork network = make_network(mlp(20), *digits_share().train);
  EXPECT_EQ(replica->gradient_flops(), network.gradient_flops(16));
}

TEST_P(ReplicaTest, TellsWhetherItsVectorIsFinite) {
  const auto replica = make();
  for (const float value : {nan, infinity, -infinity}) {
    for (const std::size_t at : {std::size_t{0}, replica->size() - 1}) {
      EXPECT_TRUE(replica->finite());
      const float kept = values(*replica)[at];
      replica->load(Vector::x, {at, 1}, *payload({value}));
      EXPECT_FALSE(replica->finite());
      replica->load(Vector::x, {at, 1}, *payload({kept}));
    }
  }
}

TEST_P(ReplicaTest, TheSameSeedGivesTheSameBits) {
  const auto one = make();
  const auto other = make();
  for (int step = 0; step < 5; ++step) {
    EXPECT_EQ(loss_of_gradient(*one), loss_of_gradient(*other));
    one->step();
    other->step();
  }
  EXPECT_EQ(values(*one), values(*other));
  EXPECT_EQ(evaluation_of(*one).loss, evaluation_of(*other).loss);
}

TEST_P(ReplicaTest, AnEvaluationLeavesTrainingAlone) {
  const auto looked_at = make();
  const auto left_alone = make();
  for (int step = 0; step < 4; ++step) {
    looked_at->gradient();
    looked_at->evaluate();
    looked_at->step();
    left_alone->gradient();
    left_alone->step();
  }
  EXPECT_EQ(values(*looked_at), values(*left_alone));
}

TEST_P(ReplicaTest, LearnsItsData) {
  const auto replica = make();
  const Evaluation before = evaluation_of(*replica);
  for (int step = 0; step < 60; ++step) {
    replica->gradient();
    replica->step();
  }
  const Evaluation after = evaluation_of(*replica);
  EXPECT_LT(after.loss, 0.8 * before.loss);
  EXPECT_GT(after.accuracy.value(), 2 * before.accuracy.value());
}

INSTANTIATE_TEST_SUITE_P(Every, ReplicaTest, testing::Values(host, cuda), [](const auto& row) {
  return row.param.name;
});

}  // namespace
}  // namespace gv
