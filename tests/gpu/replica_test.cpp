#include "optim/replica.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "optim/network.h"
#include "tests/gpu/replicas.h"

// What every Replica must do, by its definition, whatever it is made of.

namespace gv {
namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr float nan = std::numeric_limits<float>::quiet_NaN();

ModelSpec mlp(std::uint32_t width) {
  ModelSpec model;
  model.kind = "mlp";
  model.hidden = {width};
  return model;
}

OptimizerSpec momentum_sgd() {
  OptimizerSpec sgd;
  sgd.lr = 0.02;
  sgd.momentum = 0.9;
  sgd.weight_decay = 1e-3;
  return sgd;
}

class ReplicaTest : public testing::TestWithParam<Implementation> {
 protected:
  void SetUp() override {
    if (const std::string why = GetParam().missing(); !why.empty()) GTEST_SKIP() << why;
  }
  static std::unique_ptr<Replica> make(std::uint32_t width = 20,
                                       const OptimizerSpec& optimizer = momentum_sgd(),
                                       std::uint64_t seed = 3) {
    return GetParam().make(mlp(width), digits_share(), optimizer, 16, Rng(seed));
  }
};

Flows random_flows(std::size_t count, std::size_t neighbours) {
  Flows flows;
  for (std::size_t j = 0; j < neighbours; ++j) {
    flows.vectors.push_back(payload(normal(count, 100 + j)));
    flows.weights.push_back(1.0F / static_cast<float>(neighbours + 2 + j));
  }
  return flows;
}

/// The definition, written down once more: flows that are finite, summed in order, then added.
std::vector<float> mixed(std::vector<float> x, Range r, const Flows& flows) {
  for (std::size_t k = 0; k < r.count; ++k) {
    float sum = 0;
    for (std::size_t j = 0; j < flows.vectors.size(); ++j) {
      const float f = flows.weights[j] * (flows.vectors[j]->floats()[k] - x[r.begin + k]);
      if (std::isfinite(f)) sum += f;
    }
    x[r.begin + k] += sum;
  }
  return x;
}

Flows slice(const Flows& flows, Range r) {
  Flows part;
  part.weights = flows.weights;
  for (const Payload& vector : flows.vectors) {
    const auto piece = vector->floats().subspan(r.begin, r.count);
    part.vectors.push_back(payload({piece.begin(), piece.end()}));
  }
  return part;
}

TEST_P(ReplicaTest, StartsAsItsNetworkDoes) {
  const auto replica = make();
  const Network network = make_network(mlp(20), *digits_share().train);
  std::vector<float> start(network.size());
  network.initialize(start, Rng(3));
  EXPECT_EQ(values(*replica), start);
}

TEST_P(ReplicaTest, MixAddsTheFlowsInTheirOrder) {
  for (const std::size_t neighbours : {0U, 1U, 2U, 5U, 17U, 40U}) {
    const auto replica = make(300);  // 238,510 parameters: more than one stretch of 40 vectors
    for (const Range r : {Range{0, replica->size()}, Range{1, 1}, Range{4099, 131'072}}) {
      const Flows flows = random_flows(r.count, neighbours);
      const std::vector<float> expected = mixed(values(*replica), r, flows);
      EXPECT_TRUE(replica->mix(r, flows).empty());
      ASSERT_EQ(values(*replica), expected) << neighbours << " neighbours, from " << r.begin;
    }
  }
}

TEST_P(ReplicaTest, BothEndsOfAnEdgeFlowOppositely) {
  const auto one = make();
  const auto other = host.make(mlp(20), digits_share(), momentum_sgd(), 16, Rng(4));
  const std::vector<float> a = values(*one);
  const std::vector<float> b = values(*other);
  one->mix({0, a.size()}, {{payload(b)}, {0.3F}});
  other->mix({0, a.size()}, {{payload(a)}, {0.3F}});
  std::vector<float> to_one(a.size());
  std::vector<float> to_other(a.size());
  for (std::size_t k = 0; k < a.size(); ++k) {
    const float f = 0.3F * (b[k] - a[k]);
    to_one[k] = a[k] + f;
    to_other[k] = b[k] - f;
  }
  EXPECT_EQ(values(*one), to_one);
  EXPECT_EQ(values(*other), to_other);
}

TEST_P(ReplicaTest, WhatIsNotFiniteFlowsNowhereAndIsNamed) {
  const auto replica = make();
  const Range r{5, 9000};
  Flows flows = random_flows(r.count, 4);
  std::vector<float> bad(flows.vectors[1]->floats().begin(), flows.vectors[1]->floats().end());
  bad[7] = nan;
  bad[8000] = infinity;
  flows.vectors[1] = payload(bad);
  std::vector<float> worse(flows.vectors[3]->floats().begin(), flows.vectors[3]->floats().end());
  worse[7] = -infinity;
  worse[8] = std::numeric_limits<float>::max();  // finite itself
  flows.vectors[3] = payload(worse);
  const std::vector<float> expected = mixed(values(*replica), r, flows);
  EXPECT_EQ(replica->mix(r, flows), (NotFinite{1, 3}));
  EXPECT_EQ(values(*replica), expected);
  EXPECT_TRUE(replica->finite());
  // What was found is forgotten by the next.
  const Flows fine = random_flows(r.count, 4);
  EXPECT_TRUE(replica->mix(r, fine).empty());
}

TEST_P(ReplicaTest, AnOverflowingFlowIsLeftOutButNobodysFault) {
  const auto replica = make();
  const float most = std::numeric_limits<float>::max();
  replica->load(Vector::x, {0, 1}, *payload({-most}));
  EXPECT_TRUE(replica->mix({0, 1}, {{payload({most})}, {0.9F}}).empty());
  EXPECT_EQ(values(*replica)[0], -most);
}

TEST_P(ReplicaTest, StepsAsItsOptimizerDoes) {
  OptimizerSpec plain;
  OptimizerSpec nesterov = momentum_sgd();
  nesterov.nesterov = true;
  nesterov.schedule.kind = "cosine";
  nesterov.schedule.total = 5;
  OptimizerSpec adam;
  adam.kind = "adam";
  adam.weight_decay = 0.01;
  for (const OptimizerSpec& spec : {plain, momentum_sgd(), nesterov, adam}) {
    const auto replica = make(20, spec);
    const auto optimizer = make_optimizer(spec, replica->size());
    for (int step = 0; step < 4; ++step) {
      replica->gradient();
      std::vector<float> expected = values(*replica);
      optimizer->begin_step();
      optimizer->apply(0, expected, values(*replica, Vector::g));
      replica->step();
      ASSERT_EQ(values(*replica), expected) << spec.kind << ", step " << step;
    }
  }
}

TEST_P(ReplicaTest, AWholeStepGivesTheBitsOfItsHalves) {
  OptimizerSpec decaying = momentum_sgd();
  decaying.schedule.kind = "cosine";
  decaying.schedule.total = 9;
  OptimizerSpec adam;
  adam.kind = "adam";
  for (const OptimizerSpec& spec : {OptimizerSpec{}, decaying, adam}) {
    const auto whole = make(20, spec);
    const auto halves = make(20, spec);
    const Flows flows = random_flows(whole->size(), 2);
    for (int step = 0; step < 9; ++step) {
      EXPECT_EQ(whole->gradient_and_step(), halves->gradient());
      halves->step();
      ASSERT_EQ(values(*whole), values(*halves)) << spec.kind << ", step " << step;
      if (step % 4 != 3) continue;
      for (Replica* replica : {whole.get(), halves.get()}) {
        replica->gradient();  // of a round with an exchange
        replica->mix_and_step({0, replica->size()}, flows);
        if (step == 7) replica->skip_to(2);
      }
      ASSERT_EQ(values(*whole), values(*halves));
    }
  }
}

TEST_P(ReplicaTest, OnePassGivesTheBitsOfTwoAndPiecesThoseOfTheWhole) {
  const auto two = make(170);
  const auto one = make(170);
  const auto pieces = make(170);
  const std::size_t d = one->size();
  const Flows flows = random_flows(d, 3);
  for (int step = 0; step < 3; ++step) {
    for (Replica* replica : {two.get(), one.get(), pieces.get()}) replica->gradient();
    two->mix({0, d}, flows);
    two->step();
    one->mix_and_step({0, d}, flows);
    for (const Range r : {Range{0, 3001}, Range{3001, 2048}, Range{5049, d - 5049}})
      pieces->mix_and_step(r, slice(flows, r));
  }
  EXPECT_EQ(values(*one), values(*two));
  EXPECT_EQ(values(*pieces), values(*two));
}

TEST_P(ReplicaTest, ALateFlowIsAppliedAgainstWhatWasSent) {
  const auto replica = make();
  const Range r{3, 5000};
  const std::vector<float> before = values(*replica);
  const std::vector<float> theirs = normal(r.count, 1);
  const std::vector<float> ours = normal(r.count, 2);
  EXPECT_TRUE(replica->add_flow(r, 0.25F, *payload(theirs), *payload(ours)));
  std::vector<float> expected = before;
  for (std::size_t k = 0; k < r.count; ++k) expected[r.begin + k] += 0.25F * (theirs[k] - ours[k]);
  EXPECT_EQ(values(*replica), expected);

  std::vector<float> bad = theirs;
  bad[17] = nan;
  EXPECT_FALSE(replica->add_flow(r, 0.25F, *payload(bad), *payload(ours)));
  for (std::size_t k = 0; k < r.count; ++k)
    if (k != 17) expected[r.begin + k] += 0.25F * (theirs[k] - ours[k]);
  EXPECT_EQ(values(*replica), expected);
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

std::vector<std::byte> saved(const Replica& replica) {
  StateWriter out;
  replica.save(out);
  return out.take();
}

/// Steps as a fleet does: gradients, and a mix.
void train(Replica& replica, int steps) {
  const Flows flows = random_flows(replica.size(), 2);
  for (int step = 0; step < steps; ++step) {
    replica.gradient();
    replica.mix_and_step({0, replica.size()}, flows);
  }
}

TEST_P(ReplicaTest, GoesOnFromWhatItSavedWithTheSameBits) {
  OptimizerSpec adam;
  adam.kind = "adam";
  for (const OptimizerSpec& spec : {OptimizerSpec{}, momentum_sgd(), adam}) {
    const auto first = make(20, spec);
    train(*first, 3);
    const std::vector<std::byte> state = saved(*first);
    const auto second = make(20, spec, 99);
    StateReader in(state);
    second->restore(in);
    in.end();
    EXPECT_EQ(saved(*second), state);
    train(*first, 3);
    train(*second, 3);
    EXPECT_EQ(values(*first), values(*second));
  }
}

TEST_P(ReplicaTest, ItsStateMovesToTheHostAndBack) {
  OptimizerSpec adam;
  adam.kind = "adam";
  for (const OptimizerSpec& spec : {OptimizerSpec{}, momentum_sgd(), adam}) {
    const auto here = make(20, spec);
    train(*here, 3);
    const auto there = host.make(mlp(20), digits_share(), spec, 16, Rng(1));
    const std::vector<std::byte> state = saved(*here);
    StateReader in(state);
    there->restore(in);
    in.end();
    EXPECT_EQ(saved(*there), state);
    const auto back = make(20, spec, 98);
    const std::vector<std::byte> moved = saved(*there);
    StateReader again(moved);
    back->restore(again);
    EXPECT_EQ(saved(*back), state);
    EXPECT_NEAR(back->gradient(), there->gradient(), 1e-5);  // the next minibatch is the same
  }
}

TEST_P(ReplicaTest, RefusesAnotherState) {
  const auto replica = make(20);
  const std::vector<std::byte> other = saved(*make(21));
  StateReader in(other);
  EXPECT_THROW(replica->restore(in), std::runtime_error);
}

TEST_P(ReplicaTest, SkipsInItsScheduleOnly) {
  OptimizerSpec adam;
  adam.kind = "adam";
  adam.schedule.kind = "step";
  adam.schedule.every = 2;
  const auto replica = make(20, adam);
  const auto optimizer = make_optimizer(adam, replica->size());
  replica->gradient();
  replica->step();
  replica->skip_to(2);
  std::vector<float> expected = values(*make(20, adam));
  const std::vector<float> g = values(*replica, Vector::g);
  optimizer->begin_step();
  optimizer->apply(0, expected, g);
  optimizer->skip_to(2);
  optimizer->begin_step();
  optimizer->apply(0, expected, g);
  replica->step();
  EXPECT_EQ(values(*replica), expected);
}

TEST_P(ReplicaTest, TheSameSeedGivesTheSameBits) {
  const auto one = make();
  const auto other = make();
  for (int step = 0; step < 5; ++step) {
    EXPECT_EQ(one->gradient(), other->gradient());
    one->step();
    other->step();
  }
  EXPECT_EQ(values(*one), values(*other));
  EXPECT_EQ(one->evaluate().loss, other->evaluate().loss);
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

TEST_P(ReplicaTest, BuffersMayLieWhereItLikesThem) {
  const auto replica = make();
  const std::size_t d = replica->size();
  BufferPool pool(replica->buffer_memory());
  std::shared_ptr<Buffer> copy = pool.acquire(d * sizeof(float));
  replica->snapshot(Vector::x, {0, d}, *copy);
  const std::vector<float> x = values(*replica);
  EXPECT_TRUE(std::ranges::equal(copy->floats(), x));
  const std::vector<float> theirs = normal(d, 5);
  std::ranges::copy(theirs, copy->floats().begin());
  const Flows flows{{copy}, {0.5F}};
  EXPECT_TRUE(replica->mix({0, d}, flows).empty());
  EXPECT_EQ(values(*replica), mixed(x, {0, d}, flows));
}

TEST_P(ReplicaTest, LearnsItsData) {
  const auto replica = make();
  const Evaluation before = replica->evaluate();
  for (int step = 0; step < 60; ++step) {
    replica->gradient();
    replica->step();
  }
  const Evaluation after = replica->evaluate();
  EXPECT_LT(after.loss, 0.8 * before.loss);
  EXPECT_GT(after.accuracy.value(), 2 * before.accuracy.value());
}

INSTANTIATE_TEST_SUITE_P(Every, ReplicaTest, testing::Values(host, cuda), [](const auto& row) {
  return row.param.name;
});

}  // namespace
}  // namespace gv
