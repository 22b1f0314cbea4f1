#include <cmath>

#include <gtest/gtest.h>

#include "gossip/steps/attack.h"
#include "tests/peer/sim/method_runs.h"

// Fleets in which some peers attack the averaging of the others, in virtual time.

namespace gv {
namespace {

/// Returns ten peers, of which two attack. The optimum of all is 1 in each coordinate.
Fleet attacked(const std::string& algorithm, const std::string& kind, double tau = 0.02) {
  Fleet fleet = quadratic_fleet(10, "complete", algorithm, algorithm == "d-psgd" ? "atc" : "");
  if (algorithm == "clipped-gossip") fleet.settings = {{"tau", tau}};
  fleet.data.quadratic = {.dimension = 4,
                          .hessian = {1},
                          .noise = 0.3,
                          .spread = 0,
                          .start = 0,
                          .centers = std::vector<std::vector<double>>(10, {1, 1, 1, 1})};
  fleet.optimizer.lr = 0.1;
  fleet.stop.rounds = 300;
  fleet.attackers = {.count = 2, .kind = kind, .strength = 1};
  for (const AttackRow& row : attacks())
    if (row.kind == kind) fleet.attackers.strength = row.strength;
  return fleet;
}

/// Returns the largest distance of an honest peer from the optimum.
double distance(const Fleet& fleet) {
  const Assembly assembly(fleet);
  Observer observer(assembly.fleet.size(), assembly.evaluator(), {});
  simulate(assembly, observer, SimulationOptions());
  double worst = 0;
  for (const auto& [peer, report] : observer.finals()) {
    EXPECT_EQ(report.round, fleet.stop.rounds) << peer;
    EXPECT_EQ(report.trains, peer < 8) << "attackers have no say in what the fleet has learnt";
    EXPECT_EQ(report.holds.weight, peer < 8 ? 1 : 0);
    if (!report.trains) continue;
    for (const float value : report.model->floats())
      worst = std::max(worst, std::abs(static_cast<double>(value) - 1));
  }
  return worst;
}

TEST(Attackers, MoveAveragingAndNotClippedGossip) {
  for (const AttackRow& row : attacks()) {
    if (row.gradient != nullptr) continue;
    const std::string kind(row.kind);
    const double clipped = distance(attacked("clipped-gossip", kind));
    EXPECT_LT(clipped, 0.3) << kind;
    // Hidden in the noise, or compensated here.
    if (kind == "alie" || kind == "once" || kind == "nan" || kind == "aside") continue;
    EXPECT_GT(distance(attacked("d-psgd", kind)), 1.5 * clipped) << kind;
  }
}

TEST(Attackers, AreRefusedWhereTheyKnowNoLie) {
  EXPECT_EQ(refusal(attacked("d-psgd", "alie")), "");
  for (const char* algorithm : {"all-reduce", "d2", "choco-sgd", "ad-psgd", "fedavg"})
    EXPECT_NE(refusal(attacked(algorithm, "alie")).find("take `clipped-gossip`"), std::string::npos)
        << algorithm;
}

}  // namespace
}  // namespace gv
