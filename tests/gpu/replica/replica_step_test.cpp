#include "tests/gpu/replica/replica_fixture.h"

namespace gv {
namespace {

Flows slice(const Flows& flows, Range r) {
  Flows part;
  part.weights = flows.weights;
  for (const Payload& vector : flows.vectors) {
    const auto piece = vector->floats().subspan(r.begin, r.count);
    part.vectors.push_back(payload({piece.begin(), piece.end()}));
  }
  return part;
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
  OptimizerSpec adamw = adam;
  adamw.kind = "adamw";
  for (const OptimizerSpec& spec : {plain, momentum_sgd(), nesterov, adam, adamw}) {
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
  OptimizerSpec adamw;
  adamw.kind = "adamw";
  adamw.weight_decay = 0.1;
  for (const OptimizerSpec& spec : {OptimizerSpec{}, decaying, adam, adamw}) {
    const auto whole = make(20, spec);
    const auto halves = make(20, spec);
    const Flows flows = random_flows(whole->size(), 2);
    for (int step = 0; step < 9; ++step) {
      whole->gradient_and_step();
      EXPECT_EQ(whole->loss(), loss_of_gradient(*halves));
      halves->step();
      ASSERT_EQ(values(*whole), values(*halves)) << spec.kind << ", step " << step;
      if (step % 4 != 3) continue;
      for (Replica* replica : {whole.get(), halves.get()}) {
        replica->gradient();  // a round with an exchange
        replica->mix_and_step({0, replica->size()}, flows);
        if (step == 7) replica->skip_to({2});
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

/// With many neighbours, pieces are mixed in stretches: each has its own part of the optimizer's
/// moments.
TEST_P(ReplicaTest, StretchesStepAsTheWholeDoes) {
  OptimizerSpec adam;
  adam.kind = "adam";
  for (const OptimizerSpec& spec : {momentum_sgd(), adam}) {
    const auto two = make(300, spec);
    const auto one = make(300, spec);
    const Flows flows = random_flows(one->size(), 17);
    for (int step = 0; step < 2; ++step) {
      for (Replica* replica : {two.get(), one.get()}) replica->gradient();
      two->mix({0, two->size()}, flows);
      two->step();
      one->mix_and_step({0, one->size()}, flows);
      ASSERT_EQ(values(*one), values(*two)) << spec.kind << ", step " << step;
    }
  }
}

/// Steps continue asynchronously, and their memory is freed only when they are done.
TEST_P(ReplicaTest, MayEndWhileItSteps) {
  const auto replica = make();
  replica->gradient();
  replica->step();
  replica->scale(Vector::g, 0.5F);
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
  replica->skip_to({2});
  std::vector<float> expected = values(*make(20, adam));
  const std::vector<float> g = values(*replica, Vector::g);
  optimizer->begin_step();
  optimizer->apply(0, expected, g);
  optimizer->skip_to({2});
  optimizer->begin_step();
  optimizer->apply(0, expected, g);
  replica->step();
  EXPECT_EQ(values(*replica), expected);
}

}  // namespace
}  // namespace gv
