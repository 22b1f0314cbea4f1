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

/// What AdamW remembers of one coordinate: Loshchilov & Hutter 2019, Algorithm 2.
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

/// Up to the whole rate over the warm-up, then half a cosine down to zero.
double rate(int t, int warmup, int total) {
  if (t < warmup) return 0.05 * (t + 1) / warmup;
  return 0.025 * (1 + std::cos(std::numbers::pi * (t - warmup) / (total - warmup)));
}

/// Douillard et al. 2023, Algorithm 1, as the paper runs it: AdamW inside, whose moments are each
/// peer's own and live on from round to round, a warm-up and a cosine, and Nesterov's momentum
/// outside.
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

}  // namespace
}  // namespace gv
