#include <algorithm>

#include <gtest/gtest.h>

#include "tests/peer/sim/at_speeds.h"

// Asynchronous local SGD with delayed Nesterov momentum, compared with its paper's recursion in
// double precision on drawn fleets.

namespace gv {
namespace {

using Rows = DrawnQuadratic::Rows;

/// Liu et al. 2024: the servers' side, which takes one part after the other.
struct Delayed {
  double lr = 0, beta = 0, c = 0;
  std::uint32_t most = 1;  ///< N
  Values theta{}, m{}, held{};
  std::uint32_t count = 0;

  void take(const Values& delta) {
    m.resize(theta.size(), 0);
    held.resize(theta.size(), 0);
    ++count;
    for (std::size_t k = 0; k < theta.size(); ++k) {
      held[k] += delta[k];
      double share = c;
      if (count == most) {
        m[k] = beta * m[k] + held[k] / most;
        held[k] = 0;
        share = 1 - c * most + c;
      }
      theta[k] -= lr * (share * beta * m[k] + delta[k] / most);
    }
    if (count == most) count = 0;
  }
};

Delayed drawn_servers(Rng& rng, const DrawnQuadratic& drawn) {
  Delayed servers{.lr = 0.1 + 0.8 * rng.uniform(),
                  .beta = 0.9 * rng.uniform(),
                  .most = static_cast<std::uint32_t>(1 + rng.below(8)),
                  .theta = drawn.start[0]};
  if (rng.below(2) == 0) servers.c = rng.uniform() / servers.most;
  return servers;
}

Settings settings_of(const Delayed& servers) {
  return {{"buffer", servers.most},
          {"c", servers.c},
          {"outer_lr", servers.lr},
          {"outer_momentum", servers.beta}};
}

Values minus(const Values& a, const Values& b) {
  return DrawnQuadratic::sum(1, {a}, -1, {b})[0];
}

/// The workers push their moves in turn, and each takes the model again.
TEST(AsyncDiLoCo, OfEquallyFastPeersIsItsPapersRecursion) {
  constexpr std::uint32_t cycles = 10;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE(seed);
    DrawnQuadratic drawn("async-diloco", seed);
    Rng rng = Rng(seed).derive("servers");
    Delayed servers = drawn_servers(rng, drawn);
    const std::size_t n = drawn.start.size();
    const auto steps = static_cast<std::uint32_t>(1 + rng.below(5));
    drawn.fleet.local_steps = steps;
    drawn.fleet.settings = settings_of(servers);
    drawn.fleet.flops = 1e18;
    drawn.fleet.stop.rounds = cycles;
    const Rows start(n + 1, servers.theta);
    Rows began(n, servers.theta);
    for (std::uint32_t cycle = 0; cycle < cycles; ++cycle) {
      Rows x = began;
      for (std::uint32_t h = 0; h < steps; ++h)
        x = drawn.sum(1, x, -drawn.gamma, drawn.gradient(x));
      for (std::size_t i = 0; i < n; ++i) {
        servers.take(minus(began[i], x[i]));
        began[i] = servers.theta;
      }
    }
    expect_near(run_from(drawn.fleet, start).x.back(), servers.theta, 2e-4);
  }
}

/// Each worker pushes when it is done, in any order. Some take more steps than others, as with
/// dynamic local updates.
TEST(AsyncDiLoCo, OfPeersOfAllSpeedsIsTheRecursionThatTheClockSays) {
  int runs = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE(seed);
    DrawnQuadratic drawn("async-diloco", seed);
    Rng rng = Rng(seed).derive("clock");
    Delayed servers = drawn_servers(rng, drawn);
    const std::size_t n = drawn.start.size();
    Values times = drawn_times(rng, n);
    take_turns_of(drawn, times);
    std::vector<std::uint32_t> steps(n, long_turn);
    if (rng.below(2) == 0)
      for (std::uint32_t& own : steps) own = static_cast<std::uint32_t>(500 + rng.below(1000));
    if (steps[0] != long_turn) drawn.fleet.own_steps = steps;
    for (std::size_t i = 0; i < n; ++i) times[i] *= static_cast<double>(steps[i]) / long_turn;
    drawn.fleet.settings = settings_of(servers);
    constexpr int rounds = 3;
    drawn.fleet.stop.rounds = rounds;
    const Rows start(n + 1, servers.theta);
    Rows began(n, servers.theta);
    Values due = times;
    bool clear = true;
    for (std::size_t part = 0; part < n * rounds; ++part) {
      const auto next = static_cast<std::size_t>(std::ranges::min_element(due) - due.begin());
      for (std::size_t i = 0; i < n; ++i) clear = clear && (i == next || due[i] > due[next] + 0.03);
      Values delta = moved_in_turn(drawn, began[next], next, steps[next]);
      for (double& value : delta) value = -value;
      servers.take(delta);
      began[next] = servers.theta;
      due[next] += times[next];
      if (due[next] > (rounds + 0.5) * times[next]) due[next] = 1e9;  // its rounds are done
    }
    if (!clear) continue;
    expect_near(run_from(drawn.fleet, start).x.back(), servers.theta, 1e-3);
    ++runs;
  }
  EXPECT_GE(runs, 10);
}

/// With one part for each step of the momentum, a single peer takes DiLoCo's outer steps.
TEST(AsyncDiLoCo, OfOnePeerIsDiLoCo) {
  Fleet fleet = restless(1, "async-diloco");
  fleet.local_steps = 4;
  const Result alone = run(fleet);
  fleet.algorithm = "diloco";
  expect_near(alone.x[0], run(fleet).x[0], 1e-5);
}

/// No peer waits for another. One of five is ten times slower: it does its rounds as fast as alone,
/// and the others need a tenth of that.
TEST(AsyncDiLoCo, EndsAtTheOptimumWhoeverIsSlow) {
  Fleet fleet = restless(5, "async-diloco");
  fleet.data.quadratic.noise = 0;
  fleet.data.quadratic.spread = 0;
  fleet.settings = {{"servers", 3}, {"buffer", 5}, {"c", 0.1}};
  fleet.local_steps = 3;
  fleet.optimizer.lr = 0.05;
  fleet.flops = 1e6;
  fleet.peers[2].speed = 0.1;
  fleet.stop.rounds = 300;
  const Assembly assembly(fleet);
  Observer observer(assembly.fleet.size(), assembly.evaluator(), {});
  simulate(assembly, observer, {});
  for (const auto& [peer, report] : observer.finals()) EXPECT_EQ(report.round, 300U) << peer;
  EXPECT_LT(assembly.evaluator()->evaluate(observer.mean_model()).loss, 1e-3);
}

/// The paper's reason: momentum on each part diverges where momentum on N parts together does not.
TEST(AsyncDiLoCo, DelayedMomentumHoldsWhereMomentumOnEachPartDoesNot) {
  const auto loss = [](double buffer, double lr) {
    Fleet fleet = restless(8, "async-diloco");
    fleet.data.quadratic.noise = 0;
    fleet.settings = {{"buffer", buffer}, {"outer_lr", lr}, {"outer_momentum", 0.9}};
    fleet.local_steps = 10;
    fleet.flops = 1e6;
    fleet.optimizer.lr = 0.1;
    fleet.stop.rounds = 150;
    const Assembly assembly(fleet);
    Observer observer(assembly.fleet.size(), assembly.evaluator(), {});
    simulate(assembly, observer, {});
    return assembly.evaluator()->evaluate(observer.mean_model()).loss;
  };
  const double each = loss(1, 0.7);
  EXPECT_LT(loss(8, 0.7), 0.1);
  EXPECT_FALSE(each < 1) << each;
}

TEST(AsyncDiLoCo, RefusesMoreMomentumThanThereIs) {
  const auto refused = [](Settings settings) {
    Fleet fleet = restless(4, "async-diloco");
    fleet.settings = std::move(settings);
    return refusal(fleet);
  };
  EXPECT_EQ(refused({{"c", 0.25}}), "");
  EXPECT_NE(refused({{"c", 0.26}}).find("take 1 / 4 at most"), std::string::npos);
  EXPECT_NE(refused({{"c", 0.2}, {"buffer", 6}}).find("take 1 / 6"), std::string::npos);
}

}  // namespace
}  // namespace gv
