#include <cmath>

#include <gtest/gtest.h>

#include "tests/peer/sim/four_peers.h"

// The variants in FedAvg's file: FedProx, and the servers' optimizers of FedOpt.

namespace gv {
namespace {

/// Returns the servers' model after `rounds` rounds of four peers with one coordinate.
double model_of(const Settings& settings, Round rounds) {
  Fleet fleet = four("ring", "fedavg", settings);
  fleet.data.quadratic.start = 2;
  fleet.data.quadratic.centers = {{0}, {1}, {0.5}, {-3}};
  fleet.stop.rounds = rounds;
  const Assembly assembly(fleet);
  Observer observer(assembly.fleet.size(), assembly.evaluator(), {});
  simulate(assembly, observer, {});
  return static_cast<double>(observer.mean_model()[0]);
}

/// Returns the mean move of the four peers from x in `passes` steps, which mu pulls back.
double mean_move(double x, int passes, double mu) {
  double sum = 0;
  for (const double center : {0.0, 1.0, 0.5, -3.0}) {
    double own = x;
    for (int t = 0; t < passes; ++t) own -= gamma * (own - center + mu * (own - x));
    sum += own - x;
  }
  return sum / 4;
}

/// Li et al. 2020, Algorithm 2.
TEST(FedProx, IsItsPapersRecursion) {
  for (const double mu : {0.5, 3.0}) {
    double x = 2;
    for (int t = 0; t < 9; ++t) x += mean_move(x, 6, mu);
    EXPECT_NEAR(model_of({{"epochs", 6}, {"mu", mu}}, 9), x, 1e-5) << mu;
    EXPECT_GT(std::abs(model_of({{"epochs", 6}}, 9) - x), 1e-3) << "FedAvg is another";
  }
}

/// A peer is at the servers' model in its first step.
TEST(FedProx, OfOneStepIsFedAvg) {
  EXPECT_NEAR(model_of({{"mu", 7}}, 9), model_of({}, 9), 1e-6);
}

/// Reddi et al. 2021, Algorithm 2, for each of its rules.
TEST(FedOpt, IsItsPapersRecursion) {
  const double eta = 0.3;
  const double beta1 = 0.8;
  const double beta2 = 0.95;
  const double tau = 0.05;
  for (const int rule : {1, 2, 3}) {
    double x = 2;
    double m = 0;
    double v = tau * tau;
    for (int t = 0; t < 12; ++t) {
      const double delta = mean_move(x, 4, 0);
      const double square = delta * delta;
      m = beta1 * m + (1 - beta1) * delta;
      if (rule == 1) v += square;
      if (rule == 2) v = beta2 * v + (1 - beta2) * square;
      if (rule == 3) v -= (1 - beta2) * square * (v > square ? 1 : v < square ? -1 : 0);
      x += eta * m / (std::sqrt(v) + tau);
    }
    const double stepped = model_of({{"epochs", 4},
                                     {"optimizer", rule},
                                     {"server_lr", eta},
                                     {"beta1", beta1},
                                     {"beta2", beta2},
                                     {"tau", tau}},
                                    12);
    EXPECT_NEAR(stepped, x, 1e-5) << rule;
  }
}

TEST(FedOpt, TheMeanIsTakenInPartToo) {
  double x = 2;
  for (int t = 0; t < 9; ++t) x += 0.4 * mean_move(x, 6, 0);
  EXPECT_NEAR(model_of({{"epochs", 6}, {"server_lr", 0.4}}, 9), x, 1e-5);
  EXPECT_EQ(model_of({{"epochs", 6}, {"server_lr", 1}}, 9), model_of({{"epochs", 6}}, 9));
  EXPECT_EQ(model_of({{"optimizer", 2}, {"server_lr", 0.01}}, 9), model_of({{"optimizer", 2}}, 9));
}

/// Each server steps alone, coordinate by coordinate. A checkpoint holds its moments.
TEST(FedOpt, OfManyServersIsThatOfOneAndResumes) {
  for (const int rule : {1, 2, 3}) {
    Fleet fleet = restless(5, "fedavg");
    fleet.settings = {{"optimizer", rule}, {"fraction", 0.6}};
    const auto hash = [&] {
      const Assembly assembly(fleet);
      Observer observer(assembly.fleet.size(), assembly.evaluator(), {});
      simulate(assembly, observer, {});
      return observer.hashes().model;
    };
    const std::string one = hash();
    fleet.settings["servers"] = 3;
    EXPECT_EQ(hash(), one) << rule;
    fleet.settings["mu"] = 0.1;
    expect_it_resumes(fleet);
  }
}

}  // namespace
}  // namespace gv
