#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "gossip/steps/attack.h"
#include "tests/peer/sim/four_peers.h"

// Aggregation that withstands liars, between peers and at servers.

namespace gv {
namespace {

constexpr double nearest = 0, trimmed = 1, krum = 2, nnm = 3;

const Values spread{1, 2, 3.5, 4, 9};
const Values optima{0, 1, 0, -1, 2};

/// Returns the new value of peer i from the values of all peers, on a complete graph.
using Combination = double (*)(Values all, std::size_t i);

Values robust_recursion(Combination combine, int rounds) {
  Values x = spread;
  for (int t = 0; t < rounds; ++t) {
    for (std::size_t i = 0; i < 5; ++i) x[i] -= gamma * (x[i] - optima[i]);
    Values next(5);
    for (std::size_t i = 0; i < 5; ++i) next[i] = combine(x, i);
    x = next;
  }
  return x;
}

/// Drops the farthest of four neighbours and averages the rest equally. The own model once counted
/// twice.
double without_the_farthest(Values all, std::size_t i) {
  const double own = all[i];
  std::size_t far = i;
  for (std::size_t j = 0; j < 5; ++j)
    if (std::abs(all[j] - own) > std::abs(all[far] - own)) far = j;
  double sum = 0;
  for (std::size_t j = 0; j < 5; ++j) sum += j == far ? 0 : all[j];
  return sum / 4;
}

/// Averages the own model and the middle two of four neighbours.
double with_the_middle(Values all, std::size_t i) {
  const double own = all[i];
  all.erase(all.begin() + static_cast<std::ptrdiff_t>(i));
  std::ranges::sort(all);
  return (own + all[1] + all[2]) / 3;
}

/// Returns the model of five with the smallest distance to the two nearest of the others (f is 1).
/// Ties go to the own model, then to the first neighbour.
double by_krum(Values all, std::size_t i) {
  std::rotate(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(i),
              all.begin() + static_cast<std::ptrdiff_t>(i + 1));
  double best = 0;
  double least = 1e300;
  for (const double one : all) {
    Values squares;
    for (const double other : all) squares.push_back((one - other) * (one - other));
    std::ranges::sort(squares);
    const double score = squares[1] + squares[2];  // squares[0] is its own
    if (score >= least) continue;
    least = score;
    best = one;
  }
  return best;
}

/// Replaces each of five by the mean of the four nearest, itself included. Averages the middle
/// three.
double by_mixing(Values all, std::size_t) {
  Values mixed;
  for (const double one : all) {
    Values near = all;
    std::ranges::sort(near, {}, [&](double other) { return std::abs(other - one); });
    mixed.push_back((near[0] + near[1] + near[2] + near[3]) / 4);
  }
  std::ranges::sort(mixed);
  return (mixed[1] + mixed[2] + mixed[3]) / 3;
}

Fleet five(double rule, double liars) {
  Fleet fleet = quadratic_fleet(5, "complete", "robust-gossip", "");
  fleet.settings = {{"aggregate", rule}, {"liars", liars}};
  fleet.data.quadratic = {.dimension = 1,
                          .hessian = {1},
                          .noise = 0,
                          .spread = 0,
                          .start = 0,
                          .centers = {{0}, {1}, {0}, {-1}, {2}}};
  fleet.stop.rounds = 6;
  return fleet;
}

TEST(RobustGossip, IsTheRecursionsOfItsPapers) {
  for (const auto& [rule, combine] : {std::pair{nearest, &without_the_farthest},
                                      {trimmed, &with_the_middle},
                                      {krum, &by_krum},
                                      {nnm, &by_mixing}}) {
    SCOPED_TRACE(rule);
    expect_near(first_coordinates(run(five(rule, 1), spread)), robust_recursion(combine, 6), 1e-5);
  }
}

TEST(RobustGossip, WithoutLiarsIsDPsgd) {
  Fleet fleet = restless(8, "robust-gossip");
  fleet.settings = {{"liars", 0}};
  fleet.local_steps = 2;
  const Result robust = run(fleet);
  fleet.algorithm = "d-psgd";
  fleet.order = "atc";
  fleet.settings.clear();
  expect_near(run(fleet), robust, 1e-5);
}

/// Returns ten peers, of which two attack. The optimum of all is 1 in each coordinate.
Fleet attacked(const std::string& algorithm, const Settings& settings, const std::string& kind) {
  Fleet fleet = quadratic_fleet(10, "complete", algorithm, algorithm == "d-psgd" ? "atc" : "");
  fleet.settings = settings;
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

/// Returns the largest distance of an honest peer, or of the servers' model, from the optimum.
double distance(const Fleet& fleet) {
  const Assembly assembly(fleet);
  Observer observer(assembly.fleet.size(), assembly.evaluator(), {});
  simulate(assembly, observer, SimulationOptions());
  double worst = 0;
  for (const auto& [peer, report] : observer.finals()) {
    if (report.holds.weight == 0) continue;
    for (const float value : report.model->floats())
      worst = std::max(worst, std::abs(static_cast<double>(value) - 1));
  }
  return worst;
}

TEST(RobustGossip, IsNotMovedFarByTwoOfTen) {
  for (const AttackRow& row : attacks()) {
    if (row.gradient != nullptr) continue;
    const std::string kind(row.kind);
    for (const double rule : {nearest, trimmed, krum, nnm}) {
      const Fleet fleet = attacked("robust-gossip", {{"aggregate", rule}, {"liars", 2}}, kind);
      // Krum takes one whole model, possibly that of a liar hidden among the honest.
      EXPECT_LT(distance(fleet), rule == krum ? 1 : 0.6) << kind << " " << rule;
    }
  }
  EXPECT_GT(distance(attacked("d-psgd", {}, "drift")), 1.5);
}

TEST(RobustServers, AreNotMovedFarByTwoOfTen) {
  for (const char* method : {"parameter-server", "fedavg"}) {
    for (const char* kind : {"gradient-scale", "gradient-flip", "gradient-once", "gradient-nan"}) {
      for (const double rule : {1.0, 2.0, 3.0}) {
        const Fleet fleet = attacked(method, {{"aggregate", rule}, {"liars", 2}}, kind);
        EXPECT_LT(distance(fleet), 0.6) << method << " " << kind << " " << rule;
      }
    }
    EXPECT_GT(distance(attacked(method, {}, "gradient-scale")), 10) << method;
  }
}

/// With one coordinate all descend to the middle of the remaining optima, and with Krum to the
/// optimum with two near ones.
TEST(RobustServers, FollowTheirRule) {
  const auto end = [](const char* method, double rule, double liars) {
    Fleet fleet = quadratic_fleet(5, "ring", method, "");
    fleet.settings = {{"aggregate", rule}, {"liars", liars}};
    fleet.data.quadratic = {.dimension = 1,
                            .hessian = {1},
                            .noise = 0,
                            .spread = 0,
                            .start = 0.2,
                            .centers = {{0}, {3}, {0.5}, {-40}, {0.6}}};
    fleet.stop.rounds = 400;
    const Assembly assembly(fleet);
    Observer observer(assembly.fleet.size(), assembly.evaluator(), {});
    simulate(assembly, observer, {});
    return static_cast<double>(observer.mean_model()[0]);
  };
  for (const char* method : {"parameter-server", "fedavg"}) {
    EXPECT_NEAR(end(method, 2, 2), 0.5, 1e-3) << "the median";
    EXPECT_NEAR(end(method, 2, 1), 1.1 / 3, 1e-3) << "the mean of 0, 0.5 and 0.6";
    EXPECT_NEAR(end(method, 1, 1), 0.5, 1e-3) << "who has two near";
    EXPECT_NEAR(end(method, 2, 0), (3.0 + 0.5 - 40 + 0.6) / 5, 1e-2) << "the mean";
  }
}

TEST(RobustServers, OfManyTrimCoordinateByCoordinateAndResume) {
  for (const char* method : {"parameter-server", "fedavg"}) {
    Fleet fleet = restless(5, method);
    fleet.settings = {{"aggregate", 2}, {"liars", 1}};
    const auto model = [&] {
      const Assembly assembly(fleet);
      Observer observer(assembly.fleet.size(), assembly.evaluator(), {});
      simulate(assembly, observer, {});
      return observer.hashes().model;
    };
    const std::string one = model();
    fleet.settings["servers"] = 3;
    EXPECT_EQ(model(), one) << method;
    expect_it_resumes(fleet);
  }
}

TEST(RobustGossip, ResumesByEveryRule) {
  for (const double rule : {nearest, trimmed, krum, nnm}) expect_it_resumes(five(rule, 1));
}

TEST(RobustGossip, SaysHowManyNeighboursItNeeds) {
  EXPECT_NE(refusal(quadratic_fleet(8, "ring", "robust-gossip", ""))
                .find("`liars: 1` nearest needs at least 3 neighbours, and peer 0 has 2"),
            std::string::npos);
  EXPECT_EQ(refusal(quadratic_fleet(8, "hypercube", "robust-gossip", "")), "");
  EXPECT_NE(
      refusal(quadratic_fleet(8, "random-matching", "robust-gossip", "")).find("in each round"),
      std::string::npos);
  EXPECT_NE(refusal(quadratic_fleet(8, "exponential", "robust-gossip", "")).find("directed"),
            std::string::npos);
  Fleet four_of_them = quadratic_fleet(4, "complete", "robust-gossip", "");
  four_of_them.settings = {{"aggregate", krum}, {"liars", 1}};
  EXPECT_NE(refusal(four_of_them).find("`liars: 1` krum needs at least 4 neighbours"),
            std::string::npos);
}

}  // namespace
}  // namespace gv
