#include "optim/rl/q_agent.h"

#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "optim/host/slices.h"
#include "optim/replica/host_replica.h"
#include "optim/rl/environments.h"

namespace gv {
namespace {

NeuralNetwork network_for(const std::string& name) {
  const EnvironmentRow& row = *find_environment(name);
  return mlp_network({.channels = static_cast<std::uint32_t>(row.seen.elements())}, {12, 8},
                     row.actions);
}

AgentSpec small_agent(const std::string& name) {
  return {.environment = name,
          .steps = 3,
          .environments = 2,
          .n_step = 4,
          .memory = 150,
          .warm_up = 40,
          .refresh = 7,
          .priority = 0.6,
          .explore = {.from = 0.8, .to = 0.1, .over = 200}};
}

class QLossTest : public testing::Test {
 protected:
  void SetUp() override {
    set_compute_threads(1);
    x_.resize(network_.size());
    target_.resize(network_.size());
    network_.initialize(x_, Rng(1));
    network_.initialize(target_, Rng(2));
    Rng rng(3);
    for (std::uint32_t k = 0; k < rows; ++k) {
      drawn_.places.push_back(k);
      drawn_.actions.push_back(static_cast<std::uint32_t>(rng.below(3)));
      drawn_.rewards.push_back(static_cast<float>(4 * rng.normal()));
      drawn_.futures.push_back(k % 4 == 0 ? 0.0F : 0.9F);
      drawn_.weights.push_back(static_cast<float>(0.2 + 0.8 * rng.uniform()));
    }
    drawn_.seen.resize(rows * numbers);
    drawn_.next.resize(rows * numbers);
    rng.fill_normal(drawn_.seen);
    rng.fill_normal(drawn_.next);
  }

  static std::vector<double> doubles(const std::vector<float>& v) { return {v.begin(), v.end()}; }

  /// Returns Q of one row, layer by layer.
  static std::vector<double> q(std::span<const double> x, std::span<const float> row) {
    std::vector<double> in(row.begin(), row.end());
    std::size_t at = 0;
    for (const std::size_t width : {12U, 8U, 3U}) {
      std::vector<double> out(width);
      for (std::size_t o = 0; o < width; ++o)
        for (const double v : in) out[o] += v * x[at++];
      for (double& v : out) v += x[at++];
      if (width != 3)
        for (double& v : out) v = std::max(v, 0.0);
      in = out;
    }
    return in;
  }

  /// Returns the loss by its definition, with the targets of `y_of`.
  double loss(std::span<const double> x, std::span<const double> y_of) const {
    const std::vector<double> target = doubles(target_);
    double sum = 0;
    for (std::uint32_t k = 0; k < rows; ++k) {
      const std::span next = std::span(drawn_.next).subspan(k * numbers, numbers);
      const std::vector<double> best = q(y_of, next);
      const auto a = static_cast<std::size_t>(std::ranges::max_element(best) - best.begin());
      const double y = static_cast<double>(drawn_.rewards[k]) +
                       static_cast<double>(drawn_.futures[k]) * q(target, next)[a];
      const double off =
          q(x, std::span(drawn_.seen).subspan(k * numbers, numbers))[drawn_.actions[k]] - y;
      const double size = std::abs(off);
      sum += static_cast<double>(drawn_.weights[k]) * (size <= 1 ? off * off / 2 : size - 0.5);
    }
    return sum / rows;
  }

  static constexpr std::uint32_t rows = 16, numbers = 6;
  NeuralNetwork network_ = network_for("acrobot");
  std::vector<float> x_, target_;
  Drawn drawn_;
};

TEST_F(QLossTest, IsTheMeanOfWeightedHuberLossesOfDoubleTargets) {
  std::vector<float> g(x_.size()), errors;
  const double found = QLoss(network_).value_and_gradient(x_, target_, drawn_, g, errors);
  EXPECT_NEAR(found, loss(doubles(x_), doubles(x_)), 1e-5);
  ASSERT_EQ(errors.size(), rows);
}

TEST_F(QLossTest, ItsGradientAgreesWithDifferencesOfTheLossWithTheTargetsHeld) {
  std::vector<float> g(x_.size()), errors;
  QLoss(network_).value_and_gradient(x_, target_, drawn_, g, errors);
  const std::vector<double> here = doubles(x_);
  std::size_t smooth = 0;
  for (std::size_t k = 0; k < x_.size(); ++k) {
    const auto at = [&](double moved_by) {
      std::vector<double> moved = here;
      moved[k] += moved_by;
      return loss(moved, here);
    };
    constexpr double h = 1e-5;
    const double up = (at(h) - at(0)) / h, down = (at(0) - at(-h)) / h;
    if (std::abs(up - down) > 1e-3) continue;  // a kink of a ReLU is near
    ++smooth;
    EXPECT_NEAR(static_cast<double>(g[k]), (up + down) / 2, 1e-3) << "parameter " << k;
  }
  EXPECT_GE(smooth, x_.size() * 8 / 10);
}

TEST_F(QLossTest, TheFirstOfEqualValuesIsTheBest) {
  EXPECT_EQ(best_of(std::vector<float>{1, 3, 3}), 1U);
  EXPECT_EQ(best_of(std::vector<float>{std::nanf(""), 0}), 0U);
}

std::unique_ptr<Objective> agent(const AgentSpec& spec, std::uint32_t peer = 0) {
  return make_q_agent(spec, network_for(spec.environment),
                      {.peer = peer, .peers = 4, .rng = Rng(5)});
}

std::unique_ptr<Replica> replica(const AgentSpec& spec, std::uint32_t peer = 0) {
  OptimizerSpec adam;
  adam.kind = "adam";
  adam.lr = 1e-2;
  return make_host_replica(agent(spec, peer), adam, 16, Rng(9));
}

std::vector<std::byte> state_of(const Replica& replica) {
  StateWriter out;
  replica.save(out);
  return out.take();
}

class QAgents : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override { set_compute_threads(1); }
};

TEST_P(QAgents, AGradientIsZeroBeforeTheWarmUpAndNotAfterwards) {
  const AgentSpec spec = small_agent(GetParam());
  const auto one = agent(spec);
  std::vector<float> x(one->size()), g(one->size());
  one->initialize(x, Rng(1));
  const auto zero = [](float v) { return v == 0; };
  // Six frames each; at most four steps of each environment are not transitions yet.
  for (int k = 0; k < 6; ++k) {
    one->value_and_gradient(x, 16, g);
    EXPECT_TRUE(std::ranges::all_of(g, zero)) << k;
  }
  for (int k = 0; k < 4; ++k) one->value_and_gradient(x, 16, g);
  EXPECT_FALSE(std::ranges::all_of(g, zero));
}

TEST_P(QAgents, WhoGoesOnFromAnyRoundEndsWithTheBitsOfWhoNeverStopped) {
  const AgentSpec spec = small_agent(GetParam());
  const auto whole = replica(spec);
  std::vector<std::vector<std::byte>> states;
  for (int k = 0; k < 90; ++k) {
    states.push_back(state_of(*whole));
    whole->gradient_and_step();
  }
  const std::vector<std::byte> end = state_of(*whole);
  for (const std::size_t from : {0U, 1U, 5U, 6U, 13U, 14U, 50U, 89U}) {
    const auto later = replica(spec);
    StateReader in(states[from]);
    later->restore(in);
    later->evaluate();  // changes nothing
    for (std::size_t k = from; k < 90; ++k) later->gradient_and_step();
    EXPECT_EQ(state_of(*later), end) << "from " << from;
  }
}

TEST_P(QAgents, EachPeerSeesItsOwnEpisodesAndAllAreLookedAtFromTheSameStarts) {
  const AgentSpec spec = small_agent(GetParam());
  const auto one = replica(spec, 0), again = replica(spec, 0), other = replica(spec, 1);
  for (int k = 0; k < 20; ++k) {
    one->gradient_and_step();
    again->gradient_and_step();
    other->gradient_and_step();
  }
  EXPECT_EQ(state_of(*one), state_of(*again));
  EXPECT_NE(state_of(*one), state_of(*other));
  const auto a = agent(spec, 0), b = agent(spec, 1);
  std::vector<float> x(a->size());
  a->initialize(x, Rng(3));
  EXPECT_EQ(a->evaluate(x).loss, b->evaluate(x).loss);
  EXPECT_FALSE(a->evaluate(x).accuracy);
}

INSTANTIATE_TEST_SUITE_P(Table,
                         QAgents,
                         testing::Values("cartpole", "mountain-car", "acrobot", "bricks"),
                         [](const auto& row) {
                           std::string name = row.param;
                           std::erase(name, '-');
                           return name;
                         });

TEST(QAgent, LearnsToBalanceAPoleForAWhile) {
  set_compute_threads(1);
  AgentSpec spec{.environment = "cartpole", .warm_up = 200, .refresh = 50};
  spec.explore.over = 1500;
  OptimizerSpec adam;
  adam.kind = "adam";
  adam.lr = 2e-3;
  const NeuralNetwork network = mlp_network({.channels = 4}, {32, 32}, 2);
  const auto one = make_host_replica(
      make_q_agent(spec, network, {.peer = 0, .peers = 1, .rng = Rng(1)}), adam, 32, Rng(2));
  double best = 0;
  one->evaluate();
  const double untaught = -one->evaluation().loss;
  for (int k = 1; k <= 1500; ++k) {
    one->gradient_and_step();
    if (k % 100 != 0) continue;
    one->evaluate();
    best = std::max(best, -one->evaluation().loss);
  }
  EXPECT_LT(untaught, 60);
  EXPECT_GT(best, 150);
}

TEST(QAgent, ARateOfExploringFallsOrIsEachPeersOwn) {
  const ExploreSpec falls{.from = 1, .to = 0.2, .over = 100};
  EXPECT_DOUBLE_EQ(falls.rate(0, 0, 1), 1);
  EXPECT_DOUBLE_EQ(falls.rate(50, 3, 4), 0.6);
  EXPECT_DOUBLE_EQ(falls.rate(1000, 0, 1), 0.2);
  const ExploreSpec own{.base = 0.4, .power = 7};
  EXPECT_DOUBLE_EQ(own.rate(7, 0, 4), 0.4);
  EXPECT_DOUBLE_EQ(own.rate(7, 3, 4), std::pow(0.4, 8));
  EXPECT_DOUBLE_EQ(own.rate(0, 0, 1), 0.4);
}

TEST(QAgent, RefusesWhatItCannotActWith) {
  const AgentSpec spec = small_agent("cartpole");
  EXPECT_THROW(make_q_agent(small_agent("pong"), network_for("cartpole"), {}),
               std::invalid_argument);
  EXPECT_THROW(make_q_agent(spec, network_for("acrobot"), {}), std::invalid_argument);
  const Shape picture = find_environment("bricks")->seen;
  EXPECT_THROW(make_q_agent(small_agent("bricks"), resnet20_network(picture, 3, Norm::batch), {}),
               std::invalid_argument);
  EXPECT_NO_THROW(
      make_q_agent(small_agent("bricks"), resnet20_network(picture, 3, Norm::group), {}));
}

TEST(QAgent, StepsOfTheEnvironmentCostWhatTheFileSays) {
  AgentSpec spec = small_agent("cartpole");
  const NeuralNetwork network = network_for("cartpole");
  const auto plain = make_q_agent(spec, network, {.step_flops = 0});
  const auto slow = make_q_agent(spec, network, {.step_flops = 1e6});
  EXPECT_DOUBLE_EQ(slow->gradient_flops(16) - plain->gradient_flops(16), 6e6);
  const double pass = network.gradient_flops(1) / 3;
  EXPECT_DOUBLE_EQ(plain->gradient_flops(16), 6 * pass + (3 + 2) * 16 * pass);
}

}  // namespace
}  // namespace gv
