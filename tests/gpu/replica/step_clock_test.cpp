#include <gtest/gtest.h>

#include "gpu/replica/step_plan.h"
#include "optim/rng.h"

namespace gv::gpu {
namespace {

std::vector<OptimizerSpec> specs() {
  OptimizerSpec momentum;
  momentum.momentum = 0.9;
  momentum.schedule.kind = "step";
  momentum.schedule.every = 2;
  OptimizerSpec nesterov = momentum;
  nesterov.nesterov = true;
  nesterov.schedule.warmup = 3;
  OptimizerSpec adam;
  adam.kind = "adam";
  adam.weight_decay = 0.1;
  adam.schedule.kind = "cosine";
  adam.schedule.total = 6;
  OptimizerSpec adamw = adam;
  adamw.kind = "adamw";
  return {OptimizerSpec{}, momentum, nesterov, adam, adamw};
}

/// x, first and second, stepped with the functions that the kernels call.
struct Stepped {
  std::vector<float> x, first, second;

  void step(const StepRule& rule, const std::vector<float>& g) {
    using Kind = StepRule::Kind;
    float none = 0;
    for (std::size_t k = 0; k < x.size(); ++k) {
      float& a = first.empty() ? none : first[k];
      float& b = second.empty() ? none : second[k];
      if (rule.kind == Kind::plain) gpu::step<Kind::plain>(rule, x[k], g[k], a, b);
      if (rule.kind == Kind::momentum) gpu::step<Kind::momentum>(rule, x[k], g[k], a, b);
      if (rule.kind == Kind::nesterov) gpu::step<Kind::nesterov>(rule, x[k], g[k], a, b);
      if (rule.kind == Kind::adam) gpu::step<Kind::adam>(rule, x[k], g[k], a, b);
      if (rule.kind == Kind::adamw) gpu::step<Kind::adamw>(rule, x[k], g[k], a, b);
    }
  }
};

TEST(StepClock, StepsToTheBitAsTheOptimizerAndSavesTheSameBytes) {
  constexpr std::size_t d = 1000;
  for (const OptimizerSpec& spec : specs()) {
    const auto optimizer = make_optimizer(spec, d);
    StepClock clock(spec);
    std::vector<float> expected(d);
    Rng(1).fill_normal(expected);
    Stepped ours{expected, std::vector<float>(clock.vectors() > 0 ? d : 0),
                 std::vector<float>(clock.vectors() > 1 ? d : 0)};
    for (std::uint64_t t = 0; t < 8; ++t) {
      std::vector<float> g(d);
      Rng(2).derive(t).fill_normal(g);
      if (t == 5) {
        optimizer->skip_to({1});
        clock.skip_to({1});
      }
      EXPECT_EQ(clock.rate(), optimizer->rate());
      optimizer->begin_step();
      optimizer->apply(0, expected, g);
      clock.begin_step();
      ours.step(clock.rule(), g);
      ASSERT_EQ(ours.x, expected) << spec.kind << ", step " << t;
      StateWriter theirs;
      StateWriter mine;
      optimizer->save(theirs);
      clock.save(mine, ours.first, ours.second);
      ASSERT_EQ(mine.bytes(), theirs.bytes()) << spec.kind << ", step " << t;
    }
  }
}

TEST(StepClock, RestoresWhatAnOptimizerSaved) {
  constexpr std::size_t d = 10;
  const std::vector<float> g(d, 0.5F);
  for (const OptimizerSpec& spec : specs()) {
    const auto optimizer = make_optimizer(spec, d);
    std::vector<float> expected(d, 1.0F);
    for (int t = 0; t < 3; ++t) {
      optimizer->begin_step();
      optimizer->apply(0, expected, g);
    }
    StateWriter state;
    optimizer->save(state);
    StepClock clock(spec);
    Stepped ours{expected, std::vector<float>(clock.vectors() > 0 ? d : 0),
                 std::vector<float>(clock.vectors() > 1 ? d : 0)};
    StateReader in(state.bytes());
    clock.restore(in, ours.first, ours.second);
    in.end();
    optimizer->begin_step();
    optimizer->apply(0, expected, g);
    clock.begin_step();
    ours.step(clock.rule(), g);
    EXPECT_EQ(ours.x, expected) << spec.kind;
  }
}

TEST(StepClock, RefusesWhatIsNoOptimizer) {
  OptimizerSpec unknown;
  unknown.kind = "adagrad";
  EXPECT_THROW(StepClock{unknown}, std::invalid_argument);
  OptimizerSpec still;
  still.nesterov = true;
  EXPECT_THROW(StepClock{still}, std::invalid_argument);
}

}  // namespace
}  // namespace gv::gpu
