#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "peer/runtime/peer_plan.h"
#include "peer/sim/simulation.h"
#include "tests/peer/fleet/fleet_file.h"
#include "tests/peer/fleet/test_fleet.h"

// The judge of pace and edges must find a peer that does not keep its pace and an edge that stays
// silent, and must accept a fleet that is faster without its slowest peer.

namespace gv {
namespace {

using std::chrono::milliseconds;

/// 400 rounds of about 3 ms.
Fleet steady_fleet(const std::string& graph, PeerId n = 4) {
  Fleet fleet = restless_fleet(n, graph, "lian");
  fleet.network.latency = milliseconds(2);
  fleet.stop.rounds = 400;
  fleet.checkpoint.every = 0;
  return fleet;
}

std::vector<std::string> judged(const Fleet& file,
                                std::vector<Accident> accidents,
                                const PeerParts& parts = {}) {
  const Assembly fleet(file);
  const Usual usual = usual_of(fleet);
  Observer observer(fleet.fleet.size(), fleet.evaluator(), {});
  SimulationOptions options;
  options.threads = 1;
  options.parts = parts;
  options.faults = FaultPlan{.until = Time::max(),
                             .trace = {},
                             .drawn = false,
                             .judgement = Judgement::finite,
                             .accidents = std::move(accidents),
                             .usual = &usual,
                             .times = swarm_times(fleet)};
  return simulate(fleet, observer, options).violations;
}

/// A peer that does not keep its pace when it is alone.
PeerParts impatient() {
  PeerParts parts;
  parts.change_plan = [](Plan& plan) { plan.keeps_pace = false; };
  return parts;
}

/// A world in which peers 0 and 1 exchange no halves after the first few.
class Silent : public World {
 public:
  explicit Silent(World& real) : real_(real) {}
  void send(PeerId to, Message message) override {
    constexpr int first_few = 20;
    const bool half = message.kind == gv::Kind::contribution;
    if (!half || message.from + to != 1 || ++sent_ <= first_few) real_.send(to, std::move(message));
  }
  Time now() const override { return real_.now(); }
  void after(Time delay, std::function<void()> f) override { real_.after(delay, std::move(f)); }
  void offload(Lane lane,
               double flops,
               std::function<void()> job,
               std::function<void()> done) override {
    real_.offload(lane, flops, std::move(job), std::move(done));
  }
  std::uint64_t sent_bytes() const override { return real_.sent_bytes(); }

 private:
  World& real_;
  int sent_ = 0;
};

TEST(Steadiness, MeasuresTenUndisturbedRounds) {
  const Assembly fleet(steady_fleet("ring"));
  const Usual usual = usual_of(fleet);
  ASSERT_EQ(usual.paces.size(), 4U);
  for (const Usual::Pace& pace : usual.paces) {
    EXPECT_GT(pace.window, 10 * milliseconds(2));
    EXPECT_LT(pace.window, 10 * milliseconds(3));
    EXPECT_GE(pace.most, 10U);
    EXPECT_LE(pace.most, 12U);
  }
  EXPECT_EQ(usual.pauses.size(), 8U) << "both ends of four edges";
  for (const auto& [edge, rounds] : usual.pauses) EXPECT_EQ(rounds, 1U);
}

TEST(Steadiness, FindsWhoRunsAheadAlone) {
  const Accident cut{
      .kind = Accident::Kind::cut, .peer = 0, .at = milliseconds(200), .length = milliseconds(400)};
  const std::vector<std::string> found = judged(steady_fleet("path"), {cut}, impatient());
  ASSERT_FALSE(found.empty());
  EXPECT_TRUE(found.front().starts_with("peer 0 (life 0) runs ahead: ")) << found.front();
  EXPECT_EQ(judged(steady_fleet("path"), {cut}), std::vector<std::string>{});
}

TEST(Steadiness, FindsAnEdgeThatStaysSilent) {
  PeerParts parts;
  parts.between = [](World& world, Journal&) {
    return Interposed{std::make_unique<Silent>(world), nullptr};
  };
  const std::vector<std::string> found = judged(steady_fleet("ring"), {}, parts);
  ASSERT_FALSE(found.empty());
  EXPECT_TRUE(found.front().starts_with("edge 0-1 is silent")) << found.front();
  EXPECT_EQ(judged(steady_fleet("ring"), {}), std::vector<std::string>{});
}

/// A peer with a tenth of the speed dies for good. The others become ten times faster, and need not
/// stay slow.
TEST(Steadiness, LetsAFleetBeFastWithoutItsSlowest) {
  Fleet fleet = steady_fleet("complete");
  fleet.flops = 1e4;
  fleet.peers[3].speed = 0.1;
  const Accident death{
      .kind = Accident::Kind::kill, .peer = 3, .at = milliseconds(500), .succeeds = false};
  EXPECT_EQ(judged(fleet, {death}), std::vector<std::string>{});
}

/// Returns the findings after the accidents in a fleet's file, with the times of real links.
std::vector<std::string> judged_as_written(const std::string& text) {
  const Assembly fleet(read(text));
  const Usual usual = usual_of(fleet);
  Observer observer(fleet.fleet.size(), fleet.evaluator(), {});
  SimulationOptions options;
  options.threads = 1;
  options.faults = FaultPlan{.until = Time::max(),
                             .trace = {},
                             .drawn = false,
                             .restart = fleet.fleet.restart,
                             .judgement = Judgement::finite,
                             .inject = fleet.fleet.faults.inject,
                             .usual = &usual,
                             .times = link_times(fleet.fleet.faults)};
  return simulate(fleet, observer, options).violations;
}

/// Two links of a path are cut at overlapping times. It once did 716,312 rounds in 25 s; 1,666 are
/// usual.
TEST(KnownAccidents, CutsThatOverlapOnAPath) {
  EXPECT_EQ(judged_as_written(R"(version: 1
peers: 3
data: { kind: quadratic, dimension: 4 }
algorithm: d-psgd
topology: path
network: { latency: 15 ms }
simulate: { flops: 2 MFLOP/s }
train: { optimizer: { kind: sgd, lr: 0.05 } }
stop: { time: 25 s }
faults:
  inject: [{ at: 4 s, cut: [0, 1], for: 6 s }, { at: 6 s, cut: [1, 2], for: 10.5 s }]
)"),
            std::vector<std::string>{});
}

/// Peers 1 and 5 stand still. One peer once did 358,000 rounds in a second, and the loss doubled.
TEST(KnownAccidents, TwoPeersOfARingStandStill) {
  EXPECT_EQ(judged_as_written(R"(version: 1
peers: 6
data: { kind: blobs, train: 600, test: 100, features: 10 }
model: softmax
train: { optimizer: { kind: sgd, lr: 0.05 }, batch: 16 }
algorithm: d-psgd
topology: ring
network: { latency: 20 ms }
stop: { rounds: 1000 }
faults:
  inject: [{ at: 5 s, stop: 1, for: 8 s }, { at: 7 s, stop: 5, for: 6 s }]
)"),
            std::vector<std::string>{});
}

/// A peer of a tree stands still. It once did 2,400 rounds in 5 s; 330 are usual.
TEST(KnownAccidents, APeerOfATreeStandsStill) {
  EXPECT_EQ(judged_as_written(R"(version: 1
seed: 720735733
peers: 4
data: { kind: blobs, train: 240, test: 40, classes: 5 }
model: { kind: mlp, hidden: [8, 5] }
train: { optimizer: { kind: sgd, lr: 0.01 }, batch: 4 }
algorithm: { kind: relay-sgd, codec: fp16 }
topology: binary-tree
network: { latency: 15 ms }
simulate: { flops: 1 GFLOP/s }
stop: { rounds: 1990 }
faults: { deadline: 0.3 s, inject: [{ at: 11.248 s, stop: 3, for: 9.096 s }] }
)"),
            std::vector<std::string>{});
}

/// A peer is cut off, then the edge between two others. These two once never exchanged again.
TEST(KnownAccidents, AnEdgeIsCutAfterAPeerWasCutOff) {
  EXPECT_EQ(judged_as_written(R"(version: 1
seed: 569598002
peers: 8
data: { kind: blobs, train: 480, test: 40, classes: 2 }
model: { kind: mlp, hidden: [6] }
train: { optimizer: { kind: sgd, lr: 0.1, weight_decay: 0.001 }, batch: 2 }
algorithm: { kind: extra, codec: int8 }
topology: path
network: { latency: 15 ms, bandwidth: 1 Gbit }
simulate: { flops: 1 GFLOP/s }
stop: { rounds: 2999 }
faults:
  deadline: 30 s
  inject:
    - { at: 17.646 s, cut: [2, 3], for: 4.58 s }
    - { at: 17.646 s, cut: [3, 4], for: 4.58 s }
    - { at: 20.537 s, cut: [4, 5], for: 10.492 s }
)"),
            std::vector<std::string>{});
}

}  // namespace
}  // namespace gv
