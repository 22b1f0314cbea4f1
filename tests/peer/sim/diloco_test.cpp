#include <cmath>
#include <numbers>

#include <gtest/gtest.h>

#include "tests/peer/sim/four_peers.h"

namespace gv {
namespace {

TEST(DiLoCo, IsItsPapersRecursion) {
  const double lr = 0.7;
  const double mu = 0.9;
  Values x = begin;
  Values u(4, 0);
  for (int t = 0; t < 12; ++t) {
    const Values moved = steps(x, 5);
    Values delta(4);
    for (std::size_t i = 0; i < 4; ++i) delta[i] = x[i] - moved[i];
    delta = mean_of(delta);
    for (std::size_t i = 0; i < 4; ++i) {
      u[i] = mu * u[i] + delta[i];
      x[i] -= lr * (delta[i] + mu * u[i]);
    }
  }
  Fleet fleet = four("ring", "diloco", {{"outer_lr", lr}, {"outer_momentum", mu}});
  fleet.local_steps = 5;
  fleet.stop.rounds = 12;
  expect_near(first_coordinates(run(fleet, begin)), x, 1e-5);
}

/// The memory of AdamW for one coordinate: Loshchilov & Hutter 2019, Algorithm 2.
struct Moments {
  double first = 0, second = 0;
  int seen = 0;

  double step(double x, double g, double rate) {
    ++seen;
    first = 0.9 * first + 0.1 * g;
    second = 0.95 * second + 0.05 * g * g;
    const double mean = first / (1 - std::pow(0.9, seen));
    const double root = std::sqrt(second / (1 - std::pow(0.95, seen)));
    return x - rate * (mean / (root + 1e-3) + 0.2 * x);
  }
};

/// Rises to the full rate over the warm-up, then follows half a cosine to zero.
double rate(int t, int warmup, int total) {
  if (t < warmup) return 0.05 * (t + 1) / warmup;
  return 0.025 * (1 + std::cos(std::numbers::pi * (t - warmup) / (total - warmup)));
}

/// Douillard et al. 2023, Algorithm 1, as in the paper: AdamW inside, with moments that each peer
/// keeps from round to round, a warm-up and a cosine; Nesterov's momentum outside.
TEST(DiLoCo, WithAdamWInsideIsItsPapersRecursion) {
  constexpr int inner = 5;
  constexpr int rounds = 12;
  constexpr int warmup = 8;
  Values x(4, 2.5);
  Values u(4, 0);
  std::vector<Moments> moments(4);
  for (int round = 0; round < rounds; ++round) {
    Values delta(4);
    for (std::size_t i = 0; i < 4; ++i) {
      double own = x[i];
      for (int h = 0; h < inner; ++h)
        own =
            moments[i].step(own, own - centers[i], rate(round * inner + h, warmup, rounds * inner));
      delta[i] = x[i] - own;
    }
    delta = mean_of(delta);
    for (std::size_t i = 0; i < 4; ++i) {
      u[i] = 0.9 * u[i] + delta[i];
      x[i] -= 0.7 * (delta[i] + 0.9 * u[i]);
    }
  }
  Fleet fleet = four("ring", "diloco", {{"outer_lr", 0.7}, {"outer_momentum", 0.9}});
  fleet.local_steps = inner;
  fleet.stop.rounds = rounds;
  fleet.optimizer = {.kind = "adamw",
                     .lr = 0.05,
                     .weight_decay = 0.2,
                     .beta2 = 0.95,
                     .epsilon = 1e-3,
                     .schedule = {.kind = "cosine", .warmup = warmup}};
  expect_near(first_coordinates(run(fleet, {2.5, 2.5, 2.5, 2.5})), x, 1e-5);
  expect_it_resumes(fleet);
}

/// theta of a fragment and its momentum, equal at all peers.
struct OuterPair {
  double theta = 0, u = 0;
  void step(double delta) {
    u = 0.9 * u + delta;
    theta -= 0.7 * (delta + 0.9 * u);
  }
};

/// Four peers with three coordinates, each a fragment. Only the optima of the peers differ.
struct Streaming {
  std::vector<Values> optima{{0, 1, 2}, {1, -1, 0}, {0, 3, -2}, {-1, 0.5, 1}};
  std::vector<Values> x{4, {5, -4, 3}};
  std::vector<OuterPair> outer{{5, 0}, {-4, 0}, {3, 0}};

  void inner(int steps) {
    for (int h = 0; h < steps; ++h)
      for (std::size_t i = 0; i < 4; ++i)
        for (std::size_t k = 0; k < 3; ++k) x[i][k] -= gamma * (x[i][k] - optima[i][k]);
  }
  double delta(std::size_t k) const {
    double sum = 0;
    for (const Values& own : x) sum += outer[k].theta - own[k];
    return sum / 4;
  }
};

/// Douillard et al. 2025, Algorithm 2, over all inner steps t: fragment p begins its turn at t =
/// t_p, t_p + H, ..., and ends it tau steps later.
Streaming streamed(int steps_of_round, int rounds, int tau, double alpha) {
  Streaming fleet;
  const int turns = 3 * steps_of_round;  // H
  Values under_way(3, 0);
  for (int t = 0; t < rounds * steps_of_round; ++t) {
    for (int p = 0; p < 3; ++p) {
      const auto k = static_cast<std::size_t>(p);
      const int since = t - (p + 1) * steps_of_round;
      if (since >= 0 && since % turns == 0) under_way[k] = fleet.delta(k);
      if (since - tau < 0 || (since - tau) % turns != 0) continue;
      fleet.outer[k].step(under_way[k]);
      for (Values& own : fleet.x) own[k] = alpha * own[k] + (1 - alpha) * fleet.outer[k].theta;
    }
    fleet.inner(1);
  }
  return fleet;
}

Fleet streaming(std::uint32_t local_steps, const Settings& settings, Round rounds) {
  Fleet fleet = quadratic_fleet(4, "ring", "streaming-diloco", "");
  const Streaming start;
  fleet.data.quadratic = {
      .dimension = 3, .hessian = {1}, .noise = 0, .spread = 0, .start = 0, .centers = start.optima};
  fleet.settings = settings;
  fleet.local_steps = local_steps;
  fleet.stop.rounds = rounds;
  return fleet;
}

TEST(StreamingDiLoCo, IsItsPapersRecursion) {
  for (const double alpha : {0.0, 0.5, 1.0}) {
    for (const int tau : {0, 1, 3}) {
      const Streaming by_hand = streamed(4, 14, tau, alpha);
      const Result result = run_from(
          streaming(4, {{"fragments", 3}, {"delay", tau}, {"alpha", alpha}}, 14), Streaming().x);
      for (std::size_t i = 0; i < 4; ++i) expect_near(result.x[i], by_hand.x[i], 1e-5);
    }
  }
}

/// One fragment without delay, and without a part of its own. The outer step of each of DiLoCo's
/// rounds comes at the start of the next round here, so the last round's is missing.
TEST(StreamingDiLoCo, OfOneFragmentWithoutDelayIsDiLoCo) {
  Fleet fleet = restless(8, "streaming-diloco");
  fleet.data.quadratic.noise = 0;
  fleet.local_steps = 4;
  fleet.stop.rounds = 9;
  fleet.settings = {{"fragments", 1}, {"delay", 0}, {"alpha", 0}};
  const Result streamed = run(fleet);
  fleet.algorithm = "diloco";
  fleet.settings.clear();
  fleet.stop.rounds = 8;
  const Result diloco = run(fleet);
  // The inner steps of its last round follow too.
  fleet.algorithm = "isolated";
  fleet.stop.rounds = 1;
  fleet.local_steps = 4;
  expect_near(run_from(fleet, diloco.x), streamed, 1e-4);
}

/// A fragment that is not a chunk of any peer.
TEST(StreamingDiLoCo, CutsAnyModelIntoAnyFragments) {
  for (const double fragments : {2, 7, 50, 60}) {
    Fleet fleet = restless(5, "streaming-diloco");
    fleet.local_steps = 2;
    fleet.settings = {{"fragments", fragments}, {"delay", 2}, {"alpha", 0}};
    for (const std::optional<Codec>& codec :
         {std::optional<Codec>{}, std::optional(Codec{.kind = Codec::Kind::int8})}) {
      fleet.codec = codec;
      expect_it_resumes(fleet);
    }
  }
}

/// Sums are under way while all peers compute. Rounds take as long as their steps, but with DiLoCo
/// also the time of the sum.
TEST(StreamingDiLoCo, HidesItsSumsBehindItsSteps) {
  const auto seconds = [](const std::string& algorithm, const Settings& settings) {
    Fleet fleet = restless(4, algorithm);
    fleet.data.quadratic.dimension = 10'000;
    fleet.local_steps = 40;
    fleet.settings = settings;
    fleet.flops = 50e6;
    fleet.network.latency = std::chrono::milliseconds(1);
    fleet.network.bandwidth = 1.25e6;
    const Assembly assembly(fleet);
    Observer observer(4, assembly.evaluator(), {});
    simulate(assembly, observer, {});
    return std::chrono::duration<double>(observer.summary()->time).count();
  };
  const double alone = seconds("isolated", {});
  EXPECT_GT(seconds("diloco", {}), 1.3 * alone);
  EXPECT_LT(seconds("streaming-diloco", {{"fragments", 4}, {"delay", 40}}), 1.1 * alone);
  EXPECT_LT(seconds("eager-diloco", {{"fragments", 2}}), 1.1 * alone);
}

TEST(StreamingDiLoCo, EndsATurnInItsRound) {
  EXPECT_EQ(refusal(streaming(3, {{"delay", 3}}, 2)), "");
  EXPECT_NE(refusal(streaming(3, {{"delay", 4}}, 2)).find("a round has 3"), std::string::npos);
}

}  // namespace
}  // namespace gv
