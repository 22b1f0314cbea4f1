#include <numeric>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "graph/topologies.h"
#include "peer/sim/swarm.h"
#include "peer/sim/world/audit.h"
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

/// Returns the first coordinates of the final models. The peers begin at 1, 2, 3, ... on a line
/// without slope, so that only averaging moves x.
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
      std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size()), mean,
      1e-5);
}

TEST(AdPsgd, KeepsTheMeanOnAnyGraph) {
  SimulationOptions options;
  options.threads = 1;
  for (const char* topology : {"ring", "star", "complete", "path"})
    expect_all(averaged(fleet_of(8, topology, 0), options), 4.5);
  expect_all(averaged(fleet_of(2, "ring", 0), options), 1.5);
}

/// Returns a fleet whose peer 1 has this speed, for two seconds. As for networks, gradients take
/// much more work than averages.
Fleet beside_a_slow_peer(double speed, PeerId n = 4, const std::string& topology = "ring") {
  Fleet fleet = fleet_of(n, topology, 0.01);
  fleet.data = {};
  fleet.data.kind = "blobs";
  fleet.data.train = 240;
  fleet.data.test = 30;
  fleet.model = {"mlp", {{"hidden", Widths{40}}}};
  for (PeerSpec& peer : fleet.peers) peer.batch = 32;
  fleet.peers[1].speed = speed;
  fleet.flops = 3e7;
  fleet.stop.rounds.reset();
  fleet.stop.time = std::chrono::seconds(2);
  return fleet;
}

/// Returns the rounds of each peer.
std::vector<Round> rounds_of(const Fleet& fleet, SimulationOptions options = {}) {
  const Assembly assembly(fleet);
  options.threads = 1;
  Observer observer(fleet.size(), assembly.evaluator(), {});
  simulate(assembly, observer, options);
  std::vector<Round> rounds;
  for (const auto& [peer, report] : observer.finals()) rounds.push_back(report.round);
  return rounds;
}

/// A peer of a tenth of the speed once answered its neighbours only between its gradients. They
/// waited at the end of each round in which they had drawn it, and did 80 rounds in the time of
/// 394.
TEST(AdPsgd, TheOthersKeepTheirPaceBesideASlowPeer) {
  const std::vector<Round> undisturbed = rounds_of(beside_a_slow_peer(1));
  for (const double speed : {0.2, 0.1, 0.01}) {
    SCOPED_TRACE(speed);
    const std::vector<Round> rounds = rounds_of(beside_a_slow_peer(speed));
    ASSERT_EQ(rounds.size(), 4U);
    for (const PeerId i : {0U, 2U, 3U})
      EXPECT_GT(static_cast<double>(rounds[i]), 0.9 * static_cast<double>(undisturbed[i])) << i;
    EXPECT_LT(static_cast<double>(rounds[1]), 1.2 * speed * static_cast<double>(undisturbed[1]));
  }
}

/// The ends of a path have only one neighbour to ask.
TEST(AdPsgd, NobodyQueuesForASlowPeer) {
  const std::vector<Round> undisturbed = rounds_of(beside_a_slow_peer(1, 3, "path"));
  const std::vector<Round> rounds = rounds_of(beside_a_slow_peer(0.01, 3, "path"));
  for (const PeerId i : {0U, 2U})
    EXPECT_GT(static_cast<double>(rounds[i]), 0.9 * static_cast<double>(undisturbed[i])) << i;
}

/// Counts the averages between a gradient and its step.
class StalenessReplica : public AccountedReplica {
 public:
  StalenessReplica(std::unique_ptr<Replica> inner, bool freezes, int& most)
      : AccountedReplica(std::move(inner)), freezes_(freezes), most_(most) {}
  bool freeze() override { return freezes_ && AccountedReplica::freeze(); }
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
  const bool freezes_;
  int& most_;
  int averages_ = 0;
};

/// Returns the largest number of averages during one gradient of a slow peer.
int averages_during_a_gradient(bool freezes) {
  const Fleet fleet = beside_a_slow_peer(0.01);
  const Assembly assembly(fleet);
  int most = 0;
  SimulationOptions options;
  options.replica = [&](PeerId i) -> std::unique_ptr<Replica> {
    auto real = assembly.host_replica(i);
    if (i != 1) return std::make_unique<AccountedReplica>(std::move(real));
    return std::make_unique<StalenessReplica>(std::move(real), freezes, most);
  };
  rounds_of(fleet, options);
  return most;
}

/// Its neighbours do a hundred rounds during one of its gradients. A replica that cannot keep a
/// copy of x answers between two gradients.
TEST(AdPsgd, AnswersWhileItComputes) {
  EXPECT_GT(averages_during_a_gradient(true), 50);
  EXPECT_LE(averages_during_a_gradient(false), 2);
}

/// Answers take a hundred times as long as gradients, and several pairs may be open.
TEST(AdPsgd, SettlesWhereAnswersTakeLong) {
  SimulationOptions options;
  options.threads = 1;
  for (const char* topology : {"torus", "complete", "star"})
    for (const int latency : {1, 10}) {
      SCOPED_TRACE(testing::Message() << topology << ", " << latency << " ms");
      Fleet fleet = fleet_of(16, topology, 0);
      fleet.network.latency = milliseconds(latency);
      fleet.stop.rounds = 1000;
      expect_all(averaged(fleet, options), 8.5);
    }
}

/// A cut lasts many rounds. A question from before the cut counts after it, at both ends.
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

/// Every neighbour refused a process that replaced a dead one. That process did all of its
/// rounds alone, a hundred times as long as the fleet, and its model was part of the result.
TEST(AdPsgd, ASuccessorComesBack) {
  for (const char* topology : {"star", "ring", "complete"})
    for (const PeerId dies : {1U, 3U}) {
      SCOPED_TRACE(fmt::format("{}, peer {} dies", topology, dies));
      Fleet fleet = restless(4, "ad-psgd");
      fleet.topology = parse_topology(topology);
      fleet.network.latency = milliseconds(1);
      fleet.flops = 1e6;
      fleet.stop.rounds = 600;
      const Assembly assembly(fleet);
      Observer calm(4, assembly.evaluator(), {}), disturbed(4, assembly.evaluator(), {});
      const Time usual = simulate(assembly, calm, {}).virtual_time;
      SimulationOptions options =
          injecting({{.at = usual / 4, .kind = Injection::Kind::kill, .peer = dies},
                     {.at = usual / 2, .kind = Injection::Kind::start, .peer = dies}});
      options.faults->judgement = judgement_of(assembly);
      const SimulationResult result = simulate(assembly, disturbed, options);
      EXPECT_EQ(result.violations, std::vector<std::string>{});
      EXPECT_EQ(result.lost, std::vector<PeerId>{});
      EXPECT_LT(result.virtual_time, usual * 3 / 2);
      EXPECT_LT(disturbed.summary()->consensus, 4 * calm.summary()->consensus);
    }
}

Fleet heading_for_the_optimum(const char* topology) {
  Fleet fleet = restless(6, "ad-psgd");
  fleet.topology = parse_topology(topology);
  fleet.data.quadratic.noise = 0;
  fleet.optimizer.lr = 0.02;
  fleet.stop.rounds = 1500;
  fleet.evaluate_period = milliseconds(200);
  fleet.network.latency = milliseconds(1);
  return fleet;
}

/// Expects the end to be as good as the record before the first peer's end.
void expect_a_good_end(const Fleet& fleet, const SimulationOptions& options) {
  const Assembly assembly(fleet);
  std::vector<FleetRecord> records;
  Observer observer(fleet.size(), assembly.evaluator(),
                    [&](const FleetRecord& record) { records.push_back(record); });
  simulate(assembly, observer, options);
  ASSERT_GE(records.size(), 4U);
  const FleetRecord& before = records[records.size() - 4];
  EXPECT_LT(records.back().mean.loss, 3 * before.mean.loss + 0.005);
  EXPECT_LT(records.back().consensus, 3 * before.consensus);
}

/// Peers that do not wait reach their last rounds at different times. The last ones trained on
/// alone, towards their own optimum.
TEST(AdPsgd, EndsAtTheOptimum) {
  for (const char* topology : {"ring", "path", "star", "complete"}) {
    SCOPED_TRACE(topology);
    const Fleet fleet = heading_for_the_optimum(topology);
    expect_a_good_end(fleet, {});
    expect_a_good_end(fleet, injecting({{.at = milliseconds(600),
                                         .kind = Injection::Kind::stop,
                                         .peer = 2,
                                         .length = milliseconds(700)},
                                        {.at = milliseconds(900),
                                         .kind = Injection::Kind::stop,
                                         .peer = 4,
                                         .length = milliseconds(500)}}));
  }
}

TEST(AdPsgd, FindsTheOptimum) {
  Fleet fleet = heading_for_the_optimum("ring");
  fleet.peers.resize(8, fleet.peers.front());
  const Assembly assembly(fleet);
  Observer observer(8, assembly.evaluator(), {});
  simulate(assembly, observer, {});
  EXPECT_LT(observer.summary()->mean.loss, 0.01);
}

TEST(AdPsgd, RefusesWhatItsPairsCannotBeDrawnFrom) {
  EXPECT_NE(refusal(quadratic_fleet(8, "exponential", "ad-psgd", "")), "");
  EXPECT_NE(refusal(quadratic_fleet(8, "one-peer-exponential", "ad-psgd", "")), "");
  EXPECT_EQ(refusal(quadratic_fleet(8, "torus", "ad-psgd", "")), "");
}

}  // namespace
}  // namespace gv
