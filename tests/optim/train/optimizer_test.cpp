#include "optim/train/optimizer.h"

#include <cmath>
#include <vector>

#include <gtest/gtest.h>

namespace gv {
namespace {

/// Returns x after `steps` steps on the gradient g = x (f = x^2 / 2).
float descend(const OptimizerSpec& spec, int steps) {
  const auto optimizer = make_optimizer(spec, 1);
  std::vector<float> x{1};
  for (int t = 0; t < steps; ++t) {
    const std::vector<float> g = x;
    optimizer->begin_step();
    optimizer->apply(0, x, g);
  }
  return x[0];
}

TEST(Optimizer, MomentumAndNesterovAreTheirRecursions) {
  OptimizerSpec spec;
  spec.momentum = 0.9;
  for (const bool nesterov : {false, true}) {
    spec.nesterov = nesterov;
    double x = 1;
    double u = 0;
    for (int t = 0; t < 5; ++t) {
      const double g = x;
      u = 0.9 * u + g;
      x -= 0.1 * (nesterov ? g + 0.9 * u : u);
    }
    EXPECT_NEAR(static_cast<double>(descend(spec, 5)), x, 1e-6);
  }
}

TEST(Optimizer, AdamIsItsRecursion) {
  OptimizerSpec spec;
  spec.kind = "adam";
  spec.lr = 0.01;
  double x = 1;
  double m = 0;
  double v = 0;
  for (int t = 1; t <= 5; ++t) {
    const double g = x;
    m = 0.9 * m + 0.1 * g;
    v = 0.999 * v + 0.001 * g * g;
    x -= 0.01 * (m / (1 - std::pow(0.9, t))) / (std::sqrt(v / (1 - std::pow(0.999, t))) + 1e-8);
  }
  EXPECT_NEAR(static_cast<double>(descend(spec, 5)), x, 1e-6);
}

/// Loshchilov & Hutter 2019, Algorithm 2, with gamma placed as in PyTorch: the decay shrinks x
/// directly, and never enters the moments.
TEST(Optimizer, AdamWIsItsRecursion) {
  OptimizerSpec spec;
  spec.kind = "adamw";
  spec.lr = 0.01;
  spec.weight_decay = 0.5;
  spec.schedule.kind = "cosine";
  spec.schedule.total = 8;
  double x = 1;
  double m = 0;
  double v = 0;
  for (std::uint64_t t = 1; t <= 5; ++t) {
    const double gamma = spec.schedule.rate(0.01, {t - 1});
    const auto steps = static_cast<double>(t);
    const double g = x;
    m = 0.9 * m + 0.1 * g;
    v = 0.999 * v + 0.001 * g * g;
    const double step =
        (m / (1 - std::pow(0.9, steps))) / (std::sqrt(v / (1 - std::pow(0.999, steps))) + 1e-8);
    x -= gamma * (step + 0.5 * x);
  }
  EXPECT_NEAR(static_cast<double>(descend(spec, 5)), x, 1e-6);
  spec.kind = "adam";
  EXPECT_GT(std::abs(static_cast<double>(descend(spec, 5)) - x), 1e-2) << "decay is no gradient";
}

/// With a zero gradient Adam's moments give no step, and only the decay remains: x (1 - gamma
/// lambda)^t, for any epsilon.
TEST(Optimizer, AdamWShrinksByItsRateTimesItsDecay) {
  OptimizerSpec spec;
  spec.kind = "adamw";
  spec.lr = 0.1;
  spec.weight_decay = 0.2;
  const auto optimizer = make_optimizer(spec, 2);
  std::vector<float> x{3, -5};
  const std::vector<float> none(2);
  for (int t = 0; t < 10; ++t) {
    optimizer->begin_step();
    optimizer->apply(0, x, none);
  }
  EXPECT_NEAR(x[0], 3 * std::pow(0.98, 10), 1e-5);
  EXPECT_NEAR(x[1], -5 * std::pow(0.98, 10), 1e-5);
}

TEST(Optimizer, AdamWWithoutDecayIsAdamToTheBit) {
  OptimizerSpec spec;
  spec.kind = "adam";
  const float adam = descend(spec, 7);
  spec.kind = "adamw";
  EXPECT_EQ(descend(spec, 7), adam);
}

/// A checkpoint of one cannot restore the other.
TEST(Optimizer, AdamWRestoresItsOwnStateAndNoOther) {
  OptimizerSpec spec;
  spec.kind = "adamw";
  spec.weight_decay = 0.1;
  const std::vector<float> g{1, -2};
  std::vector<float> x{1, 1};
  const auto first = make_optimizer(spec, 2);
  for (int t = 0; t < 3; ++t) {
    first->begin_step();
    first->apply(0, x, g);
  }
  StateWriter state;
  first->save(state);
  const auto second = make_optimizer(spec, 2);
  StateReader in(state.bytes());
  second->restore(in);
  std::vector<float> y = x;
  for (const auto& [optimizer, z] : {std::pair{first.get(), &x}, {second.get(), &y}}) {
    optimizer->begin_step();
    optimizer->apply(0, *z, g);
  }
  EXPECT_EQ(x, y);
  spec.kind = "adam";
  StateReader again(state.bytes());
  EXPECT_THROW(make_optimizer(spec, 2)->restore(again), std::runtime_error);
}

TEST(Optimizer, ItsRateIsThatOfTheStepThatComes) {
  OptimizerSpec spec;
  spec.schedule.kind = "cosine";
  spec.schedule.total = 10;
  for (const char* kind : {"sgd", "adam", "adamw", "fed-adagrad", "fed-adam", "fed-yogi"}) {
    spec.kind = kind;
    const auto optimizer = make_optimizer(spec, 1);
    for (std::uint64_t t = 0; t < 10; ++t) {
      EXPECT_EQ(optimizer->rate(), spec.schedule.rate(spec.lr, {t}));
      optimizer->begin_step();
    }
    optimizer->skip_to({3});
    EXPECT_EQ(optimizer->rate(), spec.schedule.rate(spec.lr, {3}));
  }
}

/// A peer with 9 steps, when the mean is 4: its steps are 4 / 9 as long, and its schedule ends with
/// the fleet's. A peer with the mean number of steps has the bits of a fleet without this rule.
TEST(Optimizer, OwnStepsAreAsLongAsTheyAreFew) {
  for (const char* kind : {"constant", "step", "linear", "cosine", "lian"}) {
    LearningRate fleet{.kind = kind, .total = 400, .every = 100, .factor = 0.5, .warmup = 40};
    LearningRate mine = fleet;
    mine.own_steps = 9;
    mine.mean_steps = 4;
    for (std::uint64_t round = 0; round < 100; ++round) {
      EXPECT_EQ(mine.rate(0.1, {9 * round}), fleet.rate(0.1, {4 * round})) << kind << round;
      EXPECT_EQ(mine.rate(0.1, {9 * round + 8}), fleet.rate(0.1, {4 * round + 3}));
      EXPECT_DOUBLE_EQ(mine.own_rate(0.1, {9 * round}), fleet.rate(0.1, {4 * round}) * 4 / 9);
    }
    fleet.own_steps = fleet.mean_steps = 3;
    LearningRate plain = fleet;
    plain.own_steps = plain.mean_steps = 1;
    for (std::uint64_t t = 0; t < 400; ++t)
      EXPECT_EQ(fleet.own_rate(0.1, {t}), plain.rate(0.1, {t})) << kind << t;
  }
  OptimizerSpec none;
  none.schedule.own_steps = 0;
  EXPECT_THROW(make_optimizer(none, 1), std::invalid_argument);
}

/// Every kind steps by its own rate.
TEST(Optimizer, EveryKindStepsByItsOwnRate) {
  for (const char* kind : {"sgd", "adam", "adamw", "adagrad", "adaptive-revision", "fed-adagrad",
                           "fed-adam", "fed-yogi"}) {
    OptimizerSpec half;
    half.kind = kind;
    half.weight_decay = std::string(kind) == "adamw" ? 0.1 : 0;
    half.lr = 0.05;
    OptimizerSpec own = half;
    own.lr = 0.1;
    own.schedule.own_steps = 8;
    own.schedule.mean_steps = 4;
    EXPECT_EQ(descend(own, 5), descend(half, 5)) << kind;
    EXPECT_EQ(make_optimizer(own, 1)->rate(), 0.1) << "of the fleet";
  }
}

TEST(Optimizer, SkippingMovesTheScheduleAlone) {
  OptimizerSpec spec;
  spec.schedule.kind = "cosine";
  spec.schedule.total = 100;
  for (const char* kind : {"sgd", "adam"}) {
    spec.kind = kind;
    const auto optimizer = make_optimizer(spec, 1);
    optimizer->skip_to({50});
    optimizer->begin_step();
    const double rate = spec.schedule.rate(spec.lr, {50});
    std::vector<float> x{1};
    optimizer->apply(0, x, std::vector<float>{3});
    // Adam's first step is one rate long whatever the gradient, if its correction counts from one.
    const double moved = spec.kind == "adam" ? rate : 3 * rate;
    EXPECT_NEAR(static_cast<double>(x[0]), 1 - moved, 1e-6);
  }
}

TEST(Schedule, HasItsEnds) {
  LearningRate s;
  EXPECT_EQ(s.rate(0.5, {1000}), 0.5);
  s.kind = "cosine";
  s.total = 100;
  EXPECT_NEAR(s.rate(0.5, {0}), 0.5, 1e-12);
  EXPECT_NEAR(s.rate(0.5, {50}), 0.25, 1e-12);
  EXPECT_NEAR(s.rate(0.5, {100}), 0, 1e-12);
  s.kind = "step";
  s.every = 10;
  EXPECT_NEAR(s.rate(1, {9}), 1, 1e-12);
  EXPECT_NEAR(s.rate(1, {20}), 0.01, 1e-12);
  s.kind = "lian";
  s.lipschitz = 2;
  s.sigma = 3;
  s.peers = 25;
  EXPECT_NEAR(s.rate(99, {0}), 1 / (4 + 3 * 2.0), 1e-12);
  s.warmup = 4;
  EXPECT_NEAR(s.rate(99, {0}), 0.25 / 10, 1e-12);
}

/// Warm-up to the whole rate, then along a line to zero at the end: Bergsma et al. 2025, "Straight
/// to zero: why linearly decaying the learning rate to zero works best for LLMs", arXiv:2502.15938.
TEST(Schedule, LinearGoesStraightToZeroBehindItsWarmUp) {
  LearningRate s{.kind = "linear", .total = 110, .warmup = 10};
  EXPECT_DOUBLE_EQ(s.rate(0.5, {0}), 0.05);
  EXPECT_DOUBLE_EQ(s.rate(0.5, {9}), 0.5);
  EXPECT_DOUBLE_EQ(s.rate(0.5, {10}), 0.5);
  EXPECT_DOUBLE_EQ(s.rate(0.5, {35}), 0.375);
  EXPECT_NEAR(s.rate(0.5, {109}), 0.005, 1e-15);
  EXPECT_EQ(s.rate(0.5, {110}), 0);
  EXPECT_EQ(s.rate(0.5, {200}), 0);
}

/// The cosine begins after the warm-up, as in Hugging Face's get_cosine_schedule_with_warmup (which
/// OpenDiLoCo uses); without a warm-up it is as long as the run.
TEST(Schedule, CosineBeginsBehindItsWarmUp) {
  LearningRate s{.kind = "cosine", .total = 110, .warmup = 10};
  EXPECT_DOUBLE_EQ(s.rate(1, {4}), 0.5);
  EXPECT_DOUBLE_EQ(s.rate(1, {10}), 1);
  EXPECT_NEAR(s.rate(1, {60}), 0.5, 1e-12);
  EXPECT_NEAR(s.rate(1, {35}), 0.5 * (1 + std::sqrt(0.5)), 1e-12);
  EXPECT_NEAR(s.rate(1, {110}), 0, 1e-12);
}

/// A warm-up as long as the run leaves no room for a decay.
TEST(Schedule, MayBeAllWarmUp) {
  for (const char* kind : {"linear", "cosine"}) {
    const LearningRate s{.kind = kind, .total = 10, .warmup = 10};
    EXPECT_DOUBLE_EQ(s.rate(1, {9}), 1) << kind;
    EXPECT_NEAR(s.rate(1, {11}), 0, 1e-12) << kind;
  }
}

TEST(Optimizer, RefusesTheImpossible) {
  OptimizerSpec spec;
  spec.nesterov = true;
  EXPECT_THROW(make_optimizer(spec, 1), std::invalid_argument);
  spec.kind = "adma";
  EXPECT_THROW(make_optimizer(spec, 1), std::invalid_argument);
  spec.kind = "adam";
  spec.schedule.kind = "cosin";
  EXPECT_THROW(make_optimizer(spec, 1), std::invalid_argument);
  spec.schedule.kind = "step";
  spec.schedule.every = 0;  // would be a divisor
  EXPECT_THROW(make_optimizer(spec, 1), std::invalid_argument);
}

/// Reddi et al. 2021, Algorithm 2, on a vector: v begins at tau^2, and nothing is corrected.
TEST(ServerOptimizer, IsItsPapersRecursion) {
  for (const std::string kind : {"fed-adagrad", "fed-adam", "fed-yogi"}) {
    OptimizerSpec spec;
    spec.kind = kind;
    spec.lr = 0.5;
    spec.beta2 = 0.9;
    spec.epsilon = 0.1;
    const auto optimizer = make_optimizer(spec, 2);
    std::vector<float> x{1, 1};
    std::vector<double> y{1, 1};
    std::vector<double> m(2, 0);
    std::vector<double> v(2, 0.01);
    for (int t = 1; t <= 8; ++t) {
      const std::vector<float> g{2.0F / static_cast<float>(t), -0.05F};
      optimizer->begin_step();
      optimizer->apply(0, x, g);
      for (std::size_t k = 0; k < 2; ++k) {
        const auto delta = -static_cast<double>(g[k]);
        const double square = delta * delta;
        m[k] = 0.9 * m[k] + 0.1 * delta;
        if (kind == "fed-adagrad") v[k] += square;
        if (kind == "fed-adam") v[k] = 0.9 * v[k] + 0.1 * square;
        if (kind == "fed-yogi") v[k] -= 0.1 * square * (v[k] > square ? 1 : -1);
        y[k] += 0.5 * m[k] / (std::sqrt(v[k]) + 0.1);
        EXPECT_NEAR(x[k], y[k], 1e-5) << kind << t;
      }
    }
  }
}

/// theory: a = 1, and pairs of g and the sum of gradients that others applied since g was read.
TEST(AdaptiveRevision, HasThePublishedVector) {
  OptimizerSpec spec;
  spec.kind = "adaptive-revision";
  spec.lr = 1;
  const auto optimizer = make_optimizer(spec, 1);
  const double pushed[] = {0.5, -0.3, 0.4, 0.2, -0.6};
  const double read[] = {0, 0, 0.5, 0.5, 0.2};  // sum of gradients that each worker had seen
  const double expected[] = {-0.447213595500, -0.178885438200, -0.536656314600, -0.715541752800,
                             -0.178885438200};
  float x = 0;
  double sum = 0;
  for (std::size_t t = 0; t < 5; ++t) {
    const auto g = static_cast<float>(pushed[t]);
    const auto missed = static_cast<float>(sum - read[t]);
    optimizer->begin_step();
    optimizer->revise(0, {&x, 1}, {&g, 1}, {&missed, 1});
    EXPECT_NEAR(x, expected[t], 1e-6) << t;
    sum += pushed[t];
  }
}

/// AdaptiveRevision without missed gradients is AdaGrad with squares that begin at 1.
TEST(AdaGrad, DividesByTheRootOfAllSquares) {
  OptimizerSpec spec;
  spec.kind = "adagrad";
  spec.lr = 0.5;
  spec.epsilon = 0;
  const auto optimizer = make_optimizer(spec, 2);
  std::vector<float> x{1, 1};
  std::vector<double> y{1, 1};
  std::vector<double> z{0, 0};
  for (int t = 1; t <= 10; ++t) {
    const std::vector<float> g{0.1F * static_cast<float>(t), -1.0F};
    optimizer->begin_step();
    optimizer->apply(0, x, g);
    for (std::size_t k = 0; k < 2; ++k) {
      const auto gradient = static_cast<double>(g[k]);
      z[k] += gradient * gradient;
      y[k] -= 0.5 * gradient / std::sqrt(z[k]);
      EXPECT_NEAR(x[k], y[k], 1e-5) << t;
    }
  }
  const float missed = 0;
  EXPECT_THROW(optimizer->revise(0, x, x, {&missed, 1}), std::logic_error);
}

}  // namespace
}  // namespace gv
