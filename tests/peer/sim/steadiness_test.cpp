#include "peer/sim/steadiness.h"

#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "peer/sim/simulation.h"
#include "tests/peer/fleet/test_fleet.h"

// The judge of pace and edges: that it finds a peer that does not keep its pace and an edge that
// stays silent, and that it holds nothing against a fleet that goes on faster without its slowest.

namespace gv {
namespace {

using std::chrono::milliseconds;

/// Rounds of about 3 ms, 400 of them.
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

/// One that keeps no pace when nobody is there.
PeerParts impatient() {
  PeerParts parts;
  parts.change_plan = [](Plan& plan) { plan.keeps_pace = false; };
  return parts;
}

/// A world in which peers 0 and 1 send each other no half after the first few.
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

/// A peer of a tenth of the speed dies for good: the others are then ten times as fast, and they
/// are not to be slow for ever.
TEST(Steadiness, LetsAFleetBeFastWithoutItsSlowest) {
  Fleet fleet = steady_fleet("complete");
  fleet.flops = 1e4;
  fleet.peers[3].speed = 0.1;
  const Accident death{
      .kind = Accident::Kind::kill, .peer = 3, .at = milliseconds(500), .succeeds = false};
  EXPECT_EQ(judged(fleet, {death}), std::vector<std::string>{});
}

}  // namespace
}  // namespace gv
