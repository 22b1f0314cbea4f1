#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "gossip/servers/servers.h"
#include "tests/peer/sim/four_peers.h"
#include "tests/peer/sim/injecting.h"

namespace gv {
namespace {

const Values unlike{0, 1, 0.5, -3};
constexpr double optimum = -0.375;  // their mean

Fleet four_drawn(const Settings& settings, std::uint32_t local_steps, Round rounds) {
  Fleet fleet = four("ring", "scaffold", settings);
  fleet.data.quadratic.start = 2;
  fleet.data.quadratic.centers = {{0}, {1}, {0.5}, {-3}};
  fleet.local_steps = local_steps;
  fleet.stop.rounds = rounds;
  return fleet;
}

/// Returns the servers' model after the fleet's rounds.
double scaffold_model(const Fleet& fleet) {
  const Assembly assembly(fleet);
  Observer observer(assembly.fleet.size(), assembly.evaluator(), {});
  simulate(assembly, observer, {});
  return static_cast<double>(observer.mean_model()[0]);
}

/// Karimireddy et al. 2020, Algorithm 1 with option II, unchanged: the c_i are the peers'.
double scaffold_recursion(const Fleet& fleet, const Setup& setup, double server_lr) {
  const auto steps = static_cast<int>(fleet.local_steps);
  double x = 2;
  double c = 0;
  Values own(4, 0);
  for (Round round = 0; round < *fleet.stop.rounds; ++round) {
    const std::vector<PeerId> chosen = drawn(setup, round);
    const auto count = static_cast<double>(chosen.size());
    double moved = 0;
    double changed = 0;
    for (const PeerId i : chosen) {
      double y = x;
      for (int k = 0; k < steps; ++k) y -= gamma * (y - unlike[i] - own[i] + c);
      const double next = own[i] - c + (x - y) / (steps * gamma);
      moved += (y - x) / count;
      changed += (next - own[i]) / 4;
      own[i] = next;
    }
    x += server_lr * moved;
    c += changed;
  }
  return x;
}

TEST(Scaffold, IsItsPapersRecursion) {
  for (const double fraction : {1.0, 0.5, 0.25}) {
    for (const double server_lr : {1.0, 0.6}) {
      const Fleet fleet = four_drawn({{"fraction", fraction}, {"server_lr", server_lr}}, 5, 15);
      const Assembly assembly(fleet);
      EXPECT_NEAR(scaffold_model(fleet), scaffold_recursion(fleet, *assembly.setup, server_lr),
                  1e-5)
          << fraction << " " << server_lr;
    }
  }
}

/// If two of four are drawn, the servers of FedAvg follow the drawn peers.
TEST(Scaffold, EndsAtTheOptimumOfAllWhoeverIsDrawn) {
  Fleet fleet = four_drawn({{"fraction", 0.5}}, 10, 400);
  EXPECT_NEAR(scaffold_model(fleet), optimum, 1e-4);
  fleet.algorithm = "fedavg";
  fleet.local_steps = 1;
  fleet.settings = {{"fraction", 0.5}, {"epochs", 10}};
  EXPECT_GT(std::abs(scaffold_model(fleet) - optimum), 0.05);
}

/// The effect of a dead peer's last gradient on the others once stayed in c for ever.
TEST(Scaffold, EndsAtTheOptimumOfThoseThatLive) {
  for (const double fraction : {1.0, 0.5})
    for (const PeerId dead : {0, 1, 2, 3}) {
      Fleet fleet = four_drawn({{"fraction", fraction}}, 10, 400);
      fleet.flops = 1e6;
      const Assembly assembly(fleet);
      Observer observer(assembly.fleet.size(), assembly.evaluator(), {});
      const Time at = std::chrono::milliseconds(20);
      simulate(assembly, observer,
               injecting({{.at = at, .kind = Injection::Kind::kill, .peer = dead}}));
      double living = 0;
      for (PeerId i = 0; i < 4; ++i) living += i == dead ? 0 : unlike[i] / 3;
      EXPECT_NEAR(observer.mean_model()[0], living, 1e-3) << fraction << ", without peer " << dead;
    }
}

/// There is no correction in the first round.
TEST(Scaffold, BeginsAsFedAvgDoes) {
  Fleet fleet = four_drawn({}, 7, 1);
  const double scaffold = scaffold_model(fleet);
  fleet.algorithm = "fedavg";
  fleet.local_steps = 1;
  fleet.settings = {{"epochs", 7}};
  EXPECT_NEAR(scaffold, scaffold_model(fleet), 1e-6);
}

/// With one step each and all peers drawn, corrections cancel: it is SGD on the mean gradient.
TEST(Scaffold, OfOneStepAndEverybodyIsAllReduce) {
  Fleet fleet = restless(5, "scaffold");
  fleet.optimizer.momentum = 0;
  const auto model = [](const Fleet& of) {
    const Assembly assembly(of);
    Observer observer(assembly.fleet.size(), assembly.evaluator(), {});
    simulate(assembly, observer, {});
    const auto mean = observer.mean_model();
    return Values(mean.begin(), mean.end());
  };
  const Values scaffold = model(fleet);
  fleet.algorithm = "all-reduce";
  fleet.order = "driver";
  expect_near(scaffold, model(fleet), 1e-5);
}

TEST(Scaffold, OfManyServersIsThatOfOneAndResumes) {
  Fleet fleet = restless(5, "scaffold");
  fleet.local_steps = 3;
  fleet.settings = {{"fraction", 0.6}};
  const auto hash = [&] {
    const Assembly assembly(fleet);
    Observer observer(assembly.fleet.size(), assembly.evaluator(), {});
    simulate(assembly, observer, {});
    return observer.hashes().model;
  };
  const std::string one = hash();
  fleet.settings["servers"] = 3;
  EXPECT_EQ(hash(), one);
  expect_it_resumes(fleet);
}

TEST(Scaffold, RefusesStepsThatDoNotTellGradients) {
  EXPECT_EQ(refusal(four_drawn({}, 5, 3)), "");
  Fleet fleet = four_drawn({}, 5, 3);
  fleet.optimizer.momentum = 0.9;
  EXPECT_NE(refusal(fleet).find("without momentum"), std::string::npos);
  fleet = four_drawn({}, 5, 3);
  fleet.optimizer.schedule.kind = "cosine";
  EXPECT_NE(refusal(fleet).find("no `schedule`"), std::string::npos);
  fleet = four_drawn({}, 5, 3);
  fleet.optimizer.lr = 0;
  EXPECT_NE(refusal(fleet).find("a `lr` above 0"), std::string::npos);
  EXPECT_EQ(refusal(four_drawn({{"fraction", 0.2}}, 5, 3)), "") << "one peer at least takes part";
}

}  // namespace
}  // namespace gv
