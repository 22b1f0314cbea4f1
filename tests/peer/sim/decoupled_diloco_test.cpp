#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include <gtest/gtest.h>

#include "peer/fleet/digest.h"
#include "tests/peer/sim/at_speeds.h"
#include "tests/peer/sim/injecting.h"

// Decoupled DiLoCo, compared with its recursion in double precision on drawn fleets: if the servers
// wait for all peers, and if the clock decides which peers count.

namespace gv {
namespace {

using Rows = DrawnQuadratic::Rows;

double length_of(const Values& v) {
  return std::sqrt(std::inner_product(v.begin(), v.end(), v.begin(), 0.0));
}

/// Returns the weighted mean of the peers' moves.
Values mean(const Rows& moved, const Values& weights) {
  Values sum(moved[0].size(), 0);
  for (std::size_t i = 0; i < moved.size(); ++i)
    for (std::size_t k = 0; k < sum.size(); ++k) sum[k] += weights[i] * moved[i][k];
  const double all = std::accumulate(weights.begin(), weights.end(), 0.0);
  for (double& value : sum) value /= all;
  return sum;
}

/// RDA: the mean length, in the direction of the mean of the directions.
Values radial(const Rows& moved, const Values& weights) {
  Rows directions = moved;
  double length = 0;
  for (std::size_t i = 0; i < moved.size(); ++i) {
    const double own = length_of(moved[i]);
    length += weights[i] * own;
    for (double& value : directions[i]) value = own > 0 ? value / own : 0;
  }
  length /= std::accumulate(weights.begin(), weights.end(), 0.0);
  Values merged = mean(directions, weights);
  const double own = length_of(merged);
  for (double& value : merged) value = own > 0 ? value * length / own : 0;
  return merged;
}

/// Applies RDA to each server's part of the vectors. The first parts are longer.
Values radial_by_server(const Rows& moved, const Values& weights, std::size_t servers) {
  Values merged;
  const std::size_t d = moved[0].size();
  for (std::size_t s = 0, begin = 0; s < servers; ++s) {
    const std::size_t count = d / servers + (s < d % servers ? 1 : 0);
    Rows parts;
    for (const Values& own : moved)
      parts.emplace_back(own.begin() + static_cast<std::ptrdiff_t>(begin),
                         own.begin() + static_cast<std::ptrdiff_t>(begin + count));
    const Values part = radial(parts, weights);
    merged.insert(merged.end(), part.begin(), part.end());
    begin += count;
  }
  return merged;
}

struct Outer {
  double lr = 0, mu = 0;
  Values theta, u;

  /// Nesterov's step in PyTorch's form. `moved` is the opposite of Delta.
  void step(const Values& moved) {
    u.resize(theta.size(), 0);
    for (std::size_t k = 0; k < theta.size(); ++k) {
      u[k] = mu * u[k] - moved[k];
      theta[k] -= lr * (-moved[k] + mu * u[k]);
    }
  }
};

Outer drawn_outer(Rng& rng) {
  const double lr = 0.1 + 0.8 * rng.uniform();
  return {.lr = lr, .mu = 0.9 * rng.uniform(), .theta = {}, .u = {}};
}

/// A fleet that moves together: each peer has its own steps and rate, and `delay` steps follow its
/// push.
struct Together {
  std::vector<std::uint32_t> steps;
  std::uint32_t mean_steps = 1, delay = 0;
  std::size_t servers = 1;
  bool radial = false;

  Rows after_steps(const DrawnQuadratic& q, Rows x, bool behind) const {
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double rate = q.gamma * mean_steps / steps[i];
      const std::uint32_t count = behind ? delay : steps[i] - delay;
      for (std::uint32_t h = 0; h < count; ++h) x[i] = q.sum(1, x, -rate, q.gradient(x))[i];
    }
    return x;
  }
  /// Returns the peers' models.
  Rows run(const DrawnQuadratic& q, Outer outer, int rounds) const {
    Rows x(q.start.size(), outer.theta);
    Values weights(steps.begin(), steps.end());  // all steps have equally many tokens
    for (int t = 0; t < rounds; ++t) {
      const Rows given = after_steps(q, x, false);
      const Rows moved = q.sum(1, given, -1, Rows(given.size(), outer.theta));
      x = after_steps(q, given, true);
      outer.step(radial ? radial_by_server(moved, weights, servers) : mean(moved, weights));
      for (std::size_t i = 0; i < x.size(); ++i)
        for (std::size_t k = 0; k < outer.theta.size(); ++k)
          x[i][k] += outer.theta[k] - given[i][k];
    }
    return x;
  }
};

Together drawn_together(Rng& rng, std::size_t n, std::size_t d) {
  Together all{.steps = {},
               .mean_steps = static_cast<std::uint32_t>(1 + rng.below(5)),
               .servers = 1 + rng.below(std::min<std::size_t>(d, 3)),
               .radial = rng.below(2) == 0};
  const bool alike = rng.below(2) == 0;
  if (alike) all.delay = static_cast<std::uint32_t>(rng.below(all.mean_steps + 1));
  for (std::size_t i = 0; i < n; ++i)
    all.steps.push_back(alike ? all.mean_steps : static_cast<std::uint32_t>(1 + rng.below(6)));
  return all;
}

TEST(DecoupledDiLoCo, WithEverybodyInTheQuorumIsItsRecursion) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE(seed);
    DrawnQuadratic drawn("decoupled-diloco", seed);
    Rng rng = Rng(seed).derive("outer");
    const std::size_t n = drawn.start.size();
    const Together all = drawn_together(rng, n, drawn.start[0].size());
    Outer outer = drawn_outer(rng);
    outer.theta = drawn.start[0];
    drawn.start.assign(n, outer.theta);
    drawn.fleet.local_steps = all.mean_steps;
    if (std::ranges::any_of(all.steps, [&](auto steps) { return steps != all.mean_steps; }))
      drawn.fleet.own_steps = all.steps;
    drawn.fleet.settings = {{"servers", static_cast<double>(all.servers)},
                            {"delay", all.delay},
                            {"merge", all.radial ? 1 : 0},
                            {"outer_lr", outer.lr},
                            {"outer_momentum", outer.mu}};
    Fleet file = drawn.fleet;
    file.stop.rounds = 12;
    Rows start = drawn.start;
    // Each server begins with its part of the model.
    for (std::size_t s = 0, begin = 0; s < all.servers; ++s) {
      const std::size_t d = outer.theta.size();
      const std::size_t count = d / all.servers + (s < d % all.servers ? 1 : 0);
      start.emplace_back(outer.theta.begin() + static_cast<std::ptrdiff_t>(begin),
                         outer.theta.begin() + static_cast<std::ptrdiff_t>(begin + count));
      begin += count;
    }
    Rows x = run_from(file, start).x;
    x.resize(n);
    expect_near(x, all.run(drawn, outer, 12), 2e-4);
  }
}

/// Peers whose turns take different times. `quorum` peers are enough, and the servers wait for
/// others for `grace` times as long as these took.
struct Clocked {
  std::size_t quorum = 1;
  double grace = 0;
  Values times;

  /// Makes outer steps until one is too close to call, because then other work would decide.
  /// Returns the number of steps made.
  int run(const DrawnQuadratic& q, Outer& outer, int most) const {
    constexpr double near = 0.1;
    Rows began(times.size(), outer.theta);
    Values due = times;
    double now = 0;
    for (int made = 0; made < most; ++made) {
      Values order = due;
      std::ranges::sort(order);
      const double enough = std::max(now, order[quorum - 1]);
      const double until = enough + grace * (enough - now);
      const auto too_near = [&](double t) { return t > enough && std::abs(t - until) < near; };
      if (std::ranges::any_of(due, too_near)) return made;
      now = order.back() <= until ? std::max(enough, order.back()) : until;
      Rows moved;
      for (std::size_t i = 0; i < due.size(); ++i)
        if (due[i] <= until) moved.push_back(moved_in_turn(q, began[i], i));
      outer.step(mean(moved, Values(moved.size(), 1)));
      for (std::size_t i = 0; i < due.size(); ++i) {
        if (due[i] > until) continue;
        began[i] = outer.theta;
        due[i] = now + times[i];
      }
    }
    return most;
  }
};

/// A late peer counts in a later round, with its whole move from the model that it had.
TEST(DecoupledDiLoCo, WithAQuorumIsTheRecursionThatTheClockSays) {
  int runs = 0;
  std::set<std::size_t> left_out;
  for (std::uint64_t seed = 1; seed <= 80; ++seed) {
    SCOPED_TRACE(seed);
    DrawnQuadratic drawn("decoupled-diloco", seed);
    Rng rng = Rng(seed).derive("clock");
    const std::size_t n = drawn.start.size();
    const Clocked clock{.quorum = 1 + rng.below(n - 1),
                        .grace = rng.below(2) == 0 ? 0 : 0.6 * rng.uniform(),
                        .times = drawn_times(rng, n)};
    take_turns_of(drawn, clock.times);
    Outer outer = drawn_outer(rng);
    outer.theta = drawn.start[0];
    drawn.fleet.settings = {{"quorum", static_cast<double>(clock.quorum)},
                            {"grace", clock.grace},
                            {"outer_lr", outer.lr},
                            {"outer_momentum", outer.mu}};
    const Rows start(n + 1, outer.theta);
    const int made = clock.run(drawn, outer, 8);
    if (made < 4) continue;
    drawn.fleet.stop.rounds = made;
    expect_near(run_from(drawn.fleet, start).x.back(), outer.theta, 1e-3);
    ++runs;
    left_out.insert(n - clock.quorum);
  }
  EXPECT_GE(runs, 30);
  EXPECT_GE(left_out.size(), 4U) << "quorums of many sizes";
}

/// Four peers with minibatches of 10 to 60 samples. The move of each alone in a round is known.
TEST(DecoupledDiLoCo, WeighsByTheSquareOfAStepsTokens) {
  Fleet fleet = quadratic_fleet(4, "ring", "decoupled-diloco", "");
  fleet.data = {};
  fleet.data.train = 240;
  fleet.data.test = 50;
  fleet.model = {"softmax", {}};
  const Values batches{10, 20, 30, 60};
  for (std::size_t i = 0; i < 4; ++i) fleet.peers[i].batch = static_cast<std::uint32_t>(batches[i]);
  fleet.local_steps = 3;
  fleet.stop.rounds = 1;
  const auto model_of = [&](double lr) {
    Fleet file = fleet;
    file.settings = {{"outer_lr", lr}, {"outer_momentum", 0}};
    return run(file).x.back();
  };
  const Values before = model_of(0);
  Fleet alone = fleet;
  alone.algorithm = "isolated";
  Rows moved = run(alone).x;
  for (Values& x : moved)
    for (std::size_t k = 0; k < x.size(); ++k) x[k] -= before[k];
  Values expected = mean(moved, {100, 400, 900, 3600});
  for (std::size_t k = 0; k < expected.size(); ++k) expected[k] += before[k];
  expect_near(model_of(1), expected, 1e-5);
}

TEST(DecoupledDiLoCo, OfEqualPeersIsDiLoCo) {
  Fleet fleet = restless(6, "decoupled-diloco");
  fleet.local_steps = 4;
  fleet.settings = {{"servers", 3}};
  const Result decoupled = run(fleet);
  fleet.algorithm = "diloco";
  fleet.settings.clear();
  const Result diloco = run(fleet);
  for (std::size_t i = 0; i < 6; ++i) expect_near(decoupled.x[i], diloco.x[i], 1e-4);
}

Fleet lively(PeerId n, Settings settings) {
  Fleet fleet = restless(n, "decoupled-diloco");
  fleet.local_steps = 4;
  fleet.settings = std::move(settings);
  fleet.flops = 1e6;
  return fleet;
}

/// One of five peers is ten times slower, and its parts count when they arrive.
TEST(DecoupledDiLoCo, DoesNotWaitForWhoIsSlow) {
  const auto seconds = [](Settings settings) {
    Fleet fleet = lively(5, std::move(settings));
    fleet.peers[2].speed = 0.1;
    fleet.stop.rounds = 100;
    const Assembly assembly(fleet);
    Observer observer(assembly.fleet.size(), assembly.evaluator(), {});
    return in_seconds(simulate(assembly, observer, {}).virtual_time);
  };
  const double all = seconds({});
  EXPECT_LT(seconds({{"quorum", 4}}), 0.3 * all);
  EXPECT_LT(seconds({{"quorum", 1}}), 0.3 * all);
  EXPECT_GT(seconds({{"quorum", 4}, {"grace", 20}}), 0.9 * all) << "a window for all";
}

TEST(DecoupledDiLoCo, EndsAtTheOptimumWhoeverIsSlow) {
  for (const double merge : {0, 1}) {
    Fleet fleet = lively(5, {{"quorum", 3}, {"servers", 3}, {"delay", 2}, {"merge", merge}});
    fleet.data.quadratic.noise = 0;
    fleet.data.quadratic.spread = 0;
    fleet.optimizer.lr = 0.05;
    fleet.peers[2].speed = 0.2;
    fleet.stop.rounds = 500;
    const Assembly assembly(fleet);
    Observer observer(assembly.fleet.size(), assembly.evaluator(), {});
    simulate(assembly, observer, {});
    EXPECT_LT(assembly.evaluator()->evaluate(observer.mean_model()).loss, 1e-3) << merge;
  }
}

/// A death costs the others no round, with or without its part in the quorum.
TEST(DecoupledDiLoCo, GoesOnWithoutWhoHasDied) {
  for (const double quorum : {0, 2, 4}) {
    SCOPED_TRACE(quorum);
    Fleet fleet = lively(4, {{"quorum", quorum}, {"servers", 2}});
    fleet.stop.rounds = 200;
    const Assembly assembly(fleet);
    Observer observer(assembly.fleet.size(), assembly.evaluator(), {});
    const SimulationResult result = simulate(
        assembly, observer,
        injecting(
            {{.at = std::chrono::milliseconds(5), .kind = Injection::Kind::kill, .peer = 1}}));
    EXPECT_EQ(result.violations, std::vector<std::string>{});
    for (const PeerId i : {0U, 2U, 3U}) EXPECT_EQ(observer.finals().at(i).round, 200U) << i;
  }
}

TEST(DecoupledDiLoCo, ResumesWithAllItsOptions) {
  for (const double merge : {0, 1}) {
    Fleet fleet = restless(5, "decoupled-diloco");
    fleet.local_steps = 4;
    fleet.settings = {{"servers", 3}, {"delay", 3}, {"merge", merge}, {"quorum", 5}};
    fleet.codec = Codec{.kind = Codec::Kind::top_k, .fraction = 0.3};
    expect_it_resumes(fleet);
  }
}

/// A replay cannot have bits that the fleet's clock decides. A replay of a parameter server with
/// backup workers once passed as a run on another network.
TEST(DecoupledDiLoCo, WithAQuorumTiesItsBitsToTheClock) {
  const auto same_everywhere = [](const char* kind, Settings settings) {
    Fleet near = quadratic_fleet(4, "ring", kind, "");
    near.settings = std::move(settings);
    Fleet far = near;
    far.network.latency = std::chrono::milliseconds(50);
    return bits_of(near) == bits_of(far);
  };
  EXPECT_TRUE(same_everywhere("decoupled-diloco", {{"quorum", 0}}));
  EXPECT_FALSE(same_everywhere("decoupled-diloco", {{"quorum", 2}}));
  EXPECT_FALSE(same_everywhere("async-diloco", {}));
  EXPECT_TRUE(same_everywhere("parameter-server", {{"backup", 0}}));
  EXPECT_FALSE(same_everywhere("parameter-server", {{"backup", 1}}));
}

TEST(DecoupledDiLoCo, RefusesWhatNobodyCouldWaitFor) {
  const auto refused = [](Settings settings) {
    Fleet fleet = restless(4, "decoupled-diloco");
    fleet.local_steps = 3;
    fleet.settings = std::move(settings);
    return refusal(fleet);
  };
  EXPECT_EQ(refused({{"quorum", 4}, {"delay", 3}}), "");
  EXPECT_NE(refused({{"quorum", 5}}).find("more parts than there are peers: take 4"),
            std::string::npos);
  EXPECT_NE(refused({{"delay", 4}}).find("the `delay` of decoupled-diloco is in inner steps"),
            std::string::npos);
  Fleet unequal = restless(4, "decoupled-diloco");
  unequal.local_steps = 3;
  unequal.own_steps = {6, 3, 2, 1};
  EXPECT_EQ(refusal(unequal), "");
  unequal.settings = {{"delay", 1}};
  EXPECT_NE(refusal(unequal).find("which all take alike"), std::string::npos);
}

}  // namespace
}  // namespace gv
