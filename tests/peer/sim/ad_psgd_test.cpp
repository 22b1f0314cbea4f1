#include <numeric>

#include <gtest/gtest.h>

#include "peer/sim/accounted_replica.h"
#include "tests/peer/sim/injecting.h"
#include "tests/peer/sim/method_runs.h"

namespace gv {
namespace {

using std::chrono::milliseconds;

Fleet fleet_of(PeerId n, const std::string& topology, double lr) {
  Fleet fleet = quadratic_fleet(n, topology, "ad-psgd", "");
  fleet.data.quadratic = {
      .dimension = 1, .hessian = {1}, .noise = 0, .spread = 0, .start = 0, .centers = {}};
  fleet.optimizer.lr = lr;
  fleet.flops = 1e5;
  fleet.network.latency = std::chrono::microseconds(300);
  fleet.stop.rounds = 200;
  return fleet;
}

/// The first coordinates of the final models of a fleet whose peers begin at 1, 2, 3, ... on a line
/// without slope: each round moves only what averaging moves.
Values averaged(const Fleet& fleet, SimulationOptions options) {
  const Assembly assembly(fleet);
  for (PeerId i = 0; i < fleet.size(); ++i) {
    const auto replica = assembly.host_replica(i);
    Buffer x(sizeof(float));
    x.floats()[0] = static_cast<float>(i + 1);
    replica->load(Vector::x, {0, 1}, x);
    StateWriter state;
    replica->save(state);
    options.resume.push_back(
        {.fleet = {}, .model = {}, .peer = i, .round = 0, .state = state.take()});
  }
  Observer observer(fleet.size(), assembly.evaluator(), {});
  simulate(assembly, observer, options);
  Values values;
  for (const auto& [peer, report] : observer.finals()) values.push_back(report.model->floats()[0]);
  return values;
}

void expect_all(const Values& values, double mean) {
  for (const double value : values) EXPECT_NEAR(value, mean, 1e-3);
  EXPECT_NEAR(
      std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size()),
      mean,
      1e-5);
}

TEST(AdPsgd, KeepsTheMeanOnAnyGraph) {
  SimulationOptions options;
  options.threads = 1;
  for (const char* topology : {"ring", "star", "complete", "path"})
    expect_all(averaged(fleet_of(8, topology, 0), options), 4.5);
  expect_all(averaged(fleet_of(2, "ring", 0), options), 1.5);
}

/// Counts the averages between a gradient and its step.
class StalenessReplica : public AccountedReplica {
 public:
  StalenessReplica(std::unique_ptr<Replica> inner, int& most)
      : AccountedReplica(std::move(inner)), most_(most) {}
  void gradient() override {
    averages_ = 0;
    AccountedReplica::gradient();
  }
  void step() override {
    most_ = std::max(most_, averages_);
    AccountedReplica::step();
  }
  bool add_flow(Vector v, Range r, float w, const Buffer& theirs, const Buffer& ours) override {
    ++averages_;
    return AccountedReplica::add_flow(v, r, w, theirs, ours);
  }

 private:
  int& most_;
  int averages_ = 0;
};

/// The hub of a star is asked by seven, while its gradients take as long as a message or longer.
TEST(AdPsgd, HasABoundedStaleness) {
  for (const double flops : {1e5, 1e4, 1e3}) {
    SCOPED_TRACE(flops);
    Fleet star = fleet_of(8, "star", 0.01);
    star.flops = flops;
    const Assembly assembly(star);
    int most = 0;
    SimulationOptions options;
    options.threads = 1;
    options.replica = [&](PeerId i) {
      return std::make_unique<StalenessReplica>(assembly.host_replica(i), most);
    };
    Observer observer(8, assembly.evaluator(), {});
    simulate(assembly, observer, options);
    EXPECT_EQ(most, 1);
  }
}

/// A cut is longer than many rounds: what was asked before it counts after it, at both ends.
TEST(AdPsgd, KeepsTheMeanThroughCutsAndStops) {
  for (int at = 5; at < 40; at += 7) {
    SCOPED_TRACE(at);
    Fleet fleet = fleet_of(6, "ring", 0);
    fleet.stop.rounds = 600;
    const std::vector<Injection> faults{{.at = milliseconds(at),
                                         .kind = Injection::Kind::cut,
                                         .peer = 1,
                                         .other = 2,
                                         .length = milliseconds(150)},
                                        {.at = milliseconds(at + 3),
                                         .kind = Injection::Kind::stop,
                                         .peer = 4,
                                         .other = 0,
                                         .length = milliseconds(100)}};
    expect_all(averaged(fleet, injecting(faults)), 3.5);
  }
}

TEST(AdPsgd, NobodyWaitsForThePaceOfASlowPeer) {
  const auto seconds = [](const std::string& algorithm) {
    Fleet fleet = fleet_of(8, "ring", 0.01);
    fleet.algorithm = algorithm;
    fleet.peers[3].speed = 0.2;
    const Assembly assembly(fleet);
    std::map<PeerId, Time> ended;
    Observer observer(8, assembly.evaluator(), {});
    SimulationOptions options;
    options.threads = 1;
    Time eighth{0};
    // When peer 0, which is no neighbour of the slow one, had done its rounds.
    options.on_progress = [&](Round round, Time now) {
      if (round == 199) eighth = now;
    };
    simulate(assembly, observer, options);
    return in_seconds(eighth);
  };
  EXPECT_LT(3 * seconds("ad-psgd"), seconds("all-reduce"));
}

/// A peer that ends first no longer draws the others to its own optimum; over a network all take
/// about the same time.
TEST(AdPsgd, FindsTheOptimum) {
  Fleet fleet = restless(8, "ad-psgd");
  fleet.data.quadratic.noise = 0;
  fleet.optimizer.lr = 0.02;
  fleet.stop.rounds = 1500;
  fleet.network.latency = milliseconds(1);
  const Assembly assembly(fleet);
  Observer observer(8, assembly.evaluator(), {});
  simulate(assembly, observer, {});
  EXPECT_LT(observer.summary()->mean.loss, 0.002);
}

TEST(AdPsgd, RefusesWhatItsPairsCannotBeDrawnFrom) {
  EXPECT_NE(refusal(quadratic_fleet(8, "exponential", "ad-psgd", "")), "");
  EXPECT_NE(refusal(quadratic_fleet(8, "one-peer-exponential", "ad-psgd", "")), "");
  EXPECT_EQ(refusal(quadratic_fleet(8, "torus", "ad-psgd", "")), "");
}

}  // namespace
}  // namespace gv
