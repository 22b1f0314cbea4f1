#include <cmath>
#include <stdexcept>
#include <vector>

#include <gtest/gtest.h>

#include "optim/rng.h"
#include "optim/train/optimizer.h"

namespace gv {
namespace {

/// Wang et al. 2025, Appendix C, computed from all gradients: the moments are sums over the past
/// windows, without state between steps.
class Written {
 public:
  explicit Written(const OptimizerSpec& spec) : spec_(spec) {}

  double step(double x, double gradient) {
    const bool decoupled = spec_.kind == "adamw";
    g_.push_back(decoupled ? gradient : gradient + spec_.weight_decay * x);
    const std::size_t over = (g_.size() - 1) / spec_.accumulate;
    double m = (1 - spec_.beta1) * g_.back();
    double v = (1 - spec_.beta2) * g_.back() * g_.back();
    for (std::size_t w = 0; w < over; ++w) {
      double sum = 0;
      for (std::size_t j = 0; j < spec_.accumulate; ++j) sum += g_[w * spec_.accumulate + j];
      const double mean = sum / static_cast<double>(spec_.accumulate);
      const auto age = static_cast<double>(over - w);
      m += (1 - spec_.beta1) * std::pow(spec_.beta1, age) * mean;
      v += (1 - spec_.beta2) * std::pow(spec_.beta2, age) * mean * mean;
    }
    const auto begun = static_cast<double>(over + 1);
    const double gamma = spec_.schedule.rate(spec_.lr, {g_.size() - 1});
    const double along = m / (1 - std::pow(spec_.beta1, begun)) /
                         (std::sqrt(v / (1 - std::pow(spec_.beta2, begun))) + spec_.epsilon);
    return x - gamma * (along + (decoupled ? spec_.weight_decay * x : 0));
  }

 private:
  OptimizerSpec spec_;
  std::vector<double> g_;
};

OptimizerSpec drawn_spec(Rng rng) {
  OptimizerSpec spec;
  spec.kind = rng.below(2) == 0 ? "adam" : "adamw";
  spec.accumulate = 2 + rng.below(6);
  spec.lr = 0.01 + 0.05 * rng.uniform();
  spec.beta1 = 0.95 * rng.uniform();
  spec.beta2 = 0.999 * rng.uniform();
  spec.epsilon = 1e-3;
  spec.weight_decay = 0.3 * rng.uniform();
  spec.schedule.kind = rng.below(2) == 0 ? "constant" : "cosine";
  spec.schedule.total = 60;
  return spec;
}

TEST(AccumulatedAdam, IsItsPapersRecursion) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE(seed);
    Rng rng = Rng(seed).derive("accumulated adam");
    const OptimizerSpec spec = drawn_spec(rng.derive("spec"));
    const std::size_t d = 1 + rng.below(20);
    const std::size_t split = rng.below(d + 1);
    const auto optimizer = make_optimizer(spec, d);
    std::vector<Written> written(d, Written(spec));
    std::vector<float> x(d), g(d);
    rng.fill_normal(x);
    std::vector<double> expected(x.begin(), x.end());
    for (int t = 0; t < 40; ++t) {
      rng.fill_normal(g);
      for (std::size_t k = 0; k < d; ++k) expected[k] = written[k].step(expected[k], g[k]);
      optimizer->begin_step();
      const auto blocks = [](auto& v, std::size_t at) {
        return std::pair{std::span(v).first(at), std::span(v).subspan(at)};
      };
      const auto [x0, x1] = blocks(x, split);
      const auto [g0, g1] = blocks(g, split);
      optimizer->apply(0, x0, g0);
      optimizer->apply(split, x1, g1);
      for (std::size_t k = 0; k < d; ++k)
        ASSERT_NEAR(static_cast<double>(x[k]), expected[k], 2e-5) << "step " << t;
    }
  }
}

/// Gradients that cancel within a window leave no trace in the moments, unlike in Adam's.
TEST(AccumulatedAdam, MomentsDoNotSeeWhatCancelsWithinAWindow) {
  OptimizerSpec spec;
  spec.kind = "adam";
  spec.lr = 1;
  spec.beta1 = 0.5;
  spec.accumulate = 2;
  const auto moved = [&](const OptimizerSpec& of) {
    const auto optimizer = make_optimizer(of, 1);
    std::vector<float> x{0};
    for (const float g : {1.0F, -1.0F, 1.0F, -1.0F}) {
      optimizer->begin_step();
      optimizer->apply(0, x, std::vector<float>{g});
    }
    x[0] = 0;
    optimizer->begin_step();
    optimizer->apply(0, x, std::vector<float>{1e-3F});
    return static_cast<double>(x[0]);
  };
  // m = g / 2 and v = g^2 / 1000 alone, corrected as of the third window.
  const double expected = -(0.5 / (1 - 0.125)) / std::sqrt(0.001 / (1 - std::pow(0.999, 3)));
  EXPECT_NEAR(moved(spec), expected, 1e-3);
  spec.accumulate = 1;
  EXPECT_GT(moved(spec), 0) << "Adam goes on along the last gradients";
}

TEST(AccumulatedAdam, OfWindowsOfOneStepIsAdam) {
  for (const char* kind : {"adam", "adamw"}) {
    OptimizerSpec spec;
    spec.kind = kind;
    spec.weight_decay = 0.1;
    const auto adam = make_optimizer(spec, 5);
    const auto accumulated = make_accumulated_adam(spec, 5);
    std::vector<float> x(5, 1), y(5, 1), g(5);
    Rng rng(3);
    for (int t = 0; t < 20; ++t) {
      rng.fill_normal(g);
      adam->begin_step();
      adam->apply(0, x, g);
      accumulated->begin_step();
      accumulated->apply(0, y, g);
      for (std::size_t k = 0; k < 5; ++k) ASSERT_NEAR(x[k], y[k], 1e-6F);
    }
  }
}

/// Resumes from any step, also within a window; a checkpoint of one cannot restore the other.
TEST(AccumulatedAdam, GoesOnFromWhatItSaved) {
  OptimizerSpec spec;
  spec.kind = "adamw";
  spec.weight_decay = 0.1;
  spec.accumulate = 3;
  const auto whole = make_optimizer(spec, 4);
  std::vector<float> x(4, 1), g(4);
  Rng rng(5);
  for (int t = 0; t < 10; ++t) {
    StateWriter state;
    whole->save(state);
    const auto again = make_optimizer(spec, 4);
    StateReader in(state.bytes());
    again->restore(in);
    std::vector<float> y = x;
    rng.fill_normal(g);
    for (const auto& [optimizer, z] : {std::pair{whole.get(), &x}, {again.get(), &y}}) {
      optimizer->begin_step();
      optimizer->apply(0, *z, g);
    }
    ASSERT_EQ(x, y) << t;
    StateWriter after, after_again;
    whole->save(after);
    again->save(after_again);
    ASSERT_EQ(after.bytes(), after_again.bytes()) << t;
    OptimizerSpec plain = spec;
    plain.accumulate = 1;
    StateReader other(state.bytes());
    EXPECT_THROW(make_optimizer(plain, 4)->restore(other), std::runtime_error);
  }
}

TEST(AccumulatedAdam, TakesTheMeanOfSomething) {
  OptimizerSpec spec;
  spec.kind = "adam";
  spec.accumulate = 0;
  EXPECT_THROW(make_optimizer(spec, 1), std::invalid_argument);
}

}  // namespace
}  // namespace gv
