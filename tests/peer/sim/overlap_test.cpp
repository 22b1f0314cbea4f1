#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "peer/sim/world/audit.h"
#include "tests/gossip/one_peer.h"
#include "tests/peer/sim/injecting.h"
#include "tests/peer/sim/method_runs.h"

// Replicas whose gradient continues in the background, as on a device.

namespace gv {
namespace {

using Calls = std::vector<std::string>;

/// Computes a gradient when it begins, but shows its loss only after its end. Records its calls.
class DeviceReplica : public AccountedReplica, public Overlap {
 public:
  DeviceReplica(std::unique_ptr<Replica> inner, Calls* calls = nullptr)
      : AccountedReplica(std::move(inner)), calls_(calls) {}

  Overlap* overlap() override { return this; }
  void gradient() override {
    begin_gradient();
    end_gradient();
  }
  void begin_gradient() override {
    EXPECT_FALSE(std::exchange(under_way_, true));
    note("begin");
    AccountedReplica::gradient();
  }
  void end_gradient() override {
    EXPECT_TRUE(std::exchange(under_way_, false));
    note("end");
    loss_ = AccountedReplica::loss();
  }
  double loss() const override { return loss_; }
  void evaluate() override {
    EXPECT_FALSE(under_way_) << "the evaluation uses what the gradient uses";
    note("evaluate");
    AccountedReplica::evaluate();
  }
  void stage(Payload) override { note("stage"); }
  void snapshot(Vector v, Range r, Buffer& out) const override {
    note("snapshot");
    AccountedReplica::snapshot(v, r, out);
  }
  NotFinite mix_and_step(Range r, const Flows& flows) override {
    EXPECT_FALSE(under_way_) << "a step by a gradient that is not there";
    note("mix and step");
    return AccountedReplica::mix_and_step(r, flows);
  }

 private:
  void note(const char* call) const {
    if (calls_ != nullptr) calls_->emplace_back(call);
  }
  Calls* calls_;
  bool under_way_ = false;
  double loss_ = 0;
};

/// Keeps jobs of the second lane until they are released, as if the device were busy.
class SlowDevice : public StillWorld {
 public:
  void offload(Lane lane,
               double flops,
               std::function<void()> job,
               std::function<void()> done) override {
    if (lane == Lane::home)
      return StillWorld::offload(lane, flops, std::move(job), std::move(done));
    beside.push_back([job = std::move(job), done = std::move(done)] {
      job();
      done();
    });
  }
  void let_go() {
    for (const auto& job : std::exchange(beside, {})) job();
    work();
  }
  std::vector<std::function<void()>> beside;
};

/// Peer 0 of a ring of 3, on a device.
class OnePeerOnADevice : public OnePeer {
 protected:
  void SetUp() override {
    auto own = std::make_unique<DeviceReplica>(ones(d), &calls);
    replica = std::move(own);
    peer = std::make_unique<Peer>(ring_plan(), slow, journal, *replica);
  }
  /// Returns x of the same peer after the same round, in which its neighbours send fours.
  std::vector<float> after_a_round_on_the_host() {
    make(d);
    for (const PeerId from : {1U, 2U})
      for (const std::uint32_t part : {0U, 1U, 2U})
        peer->deliver(model(from, 0, part, filled(part < 2 ? piece_floats : 5, 4)));
    Task<> share = peer->share();
    share.start();
    world.work();
    Task<> gradient = peer->gradient();
    gradient.start();
    world.work();
    Task<> mix = peer->mix_and_step();
    mix.start();
    world.work();
    EXPECT_TRUE(mix.done());
    return x();
  }
  template <class Verb>
  Task<> begin(Verb verb) {
    Task<> task = verb();
    task.start();
    slow.work();
    return task;
  }
  static constexpr std::uint32_t d = 2 * piece_floats + 5;
  Calls calls;
  SlowDevice slow;
};

TEST_F(OnePeerOnADevice, BeginsItsGradientBeforeItsModelLeaves) {
  const Task<> share = begin([&] { return peer->share_before_gradient(); });
  ASSERT_TRUE(share.done());
  EXPECT_EQ(calls, (Calls{"begin", "snapshot", "snapshot", "snapshot"}));
  EXPECT_EQ(slow.sent.size(), 6U);
  const Task<> gradient = begin([&] { return peer->gradient(); });
  EXPECT_FALSE(gradient.done()) << "the device is at work";
  EXPECT_EQ(calls.size(), 4U) << "a gradient is begun once";
  slow.let_go();
  EXPECT_TRUE(gradient.done());
  EXPECT_EQ(calls.back(), "end");
}

TEST_F(OnePeerOnADevice, TakesInWhatComesWhileItsGradientIsUnderWay) {
  const Task<> share = begin([&] { return peer->share_before_gradient(); });
  const Task<> gradient = begin([&] { return peer->gradient(); });
  calls.clear();
  const auto deliver = [&](PeerId from, std::uint32_t part) {
    const std::size_t floats = part < 2 ? piece_floats : 5;
    return peer->deliver(model(from, 0, part, filled(floats, 4)));
  };
  EXPECT_TRUE(deliver(1, 0));
  slow.work();
  EXPECT_EQ(calls, Calls{"stage"}) << "before the gradient has ended";
  EXPECT_FALSE(deliver(1, 0)) << "a second time";
  slow.work();
  EXPECT_EQ(calls.size(), 1U) << "what nobody will mix";
  for (const std::uint32_t part : {1U, 2U}) EXPECT_TRUE(deliver(1, part));
  for (const std::uint32_t part : {0U, 1U, 2U}) EXPECT_TRUE(deliver(2, part));
  slow.let_go();
  ASSERT_TRUE(gradient.done());
  EXPECT_EQ(std::ranges::count(calls, "stage"), 6);
  const Task<> mix = begin([&] { return peer->mix_and_step(); });
  ASSERT_TRUE(mix.done());
  EXPECT_EQ(std::ranges::count(calls, "mix and step"), 3);
  EXPECT_EQ(x(), after_a_round_on_the_host());
}

/// An evaluation that was due while the device was busy once ended the process.
TEST_F(OnePeerOnADevice, IsEvaluatedOnceItsGradientHasEnded) {
  Plan plan = ring_plan();
  plan.evaluate_period = std::chrono::milliseconds(1);
  peer = std::make_unique<Peer>(plan, slow, journal, *replica);
  const auto pass = [&](Time time) {
    slow.clock += time;
    for (const auto& [delay, f] : std::exchange(slow.timers, {})) f();
    slow.work();
  };
  const Task<> join = begin([&] { return peer->join(); });
  const Task<> gradient = begin([&] { return peer->gradient(); });
  pass(std::chrono::milliseconds(2));
  EXPECT_EQ(std::ranges::count(calls, "evaluate"), 0);
  slow.let_go();
  ASSERT_TRUE(gradient.done());
  pass(Time{1});
  EXPECT_EQ(std::ranges::count(calls, "evaluate"), 1);
}

/// Encoding is also work of the device, and would wait for the gradient.
TEST_F(OnePeerOnADevice, EncodesBeforeItsGradientBegins) {
  Plan plan = ring_plan();
  plan.traffic.codec = Codec{.kind = Codec::Kind::bf16};
  peer = std::make_unique<Peer>(plan, slow, journal, *replica);
  const Task<> share = begin([&] { return peer->share_before_gradient(); });
  ASSERT_TRUE(share.done());
  EXPECT_EQ(slow.sent.size(), 6U);
  EXPECT_EQ(std::ranges::count(calls, "begin"), 0);
}

/// Returns a maker of replicas that puts every second peer on a device.
std::function<std::unique_ptr<Replica>(PeerId)> mixed(const Assembly& assembly) {
  return [&assembly](PeerId i) -> std::unique_ptr<Replica> {
    if (i % 2 == 1) return std::make_unique<AccountedReplica>(assembly.host_replica(i));
    return std::make_unique<DeviceReplica>(assembly.host_replica(i));
  };
}

std::string bits_of(const Fleet& fleet, bool devices) {
  const Assembly assembly(fleet);
  SimulationOptions options;
  options.threads = 1;
  if (devices) options.replica = mixed(assembly);
  Observer observer(fleet.size(), assembly.evaluator(), {});
  simulate(assembly, observer, options);
  return observer.params_hash();
}

TEST(Overlap, ChangesNoBitOfAFleet) {
  for (const char* order : {"lian", "atc", "cta"})
    for (const PeerId n : {3U, 5U, 8U}) {
      Fleet fleet = quadratic_fleet(n, "ring", "d-psgd", order);
      fleet.stop.rounds = 30;
      EXPECT_EQ(bits_of(fleet, true), bits_of(fleet, false)) << order << " of " << n;
    }
  for (const char* algorithm : {"all-reduce", "gradient-tracking", "quasi-global-momentum"}) {
    Fleet fleet = quadratic_fleet(4, "ring", algorithm, "");
    fleet.stop.rounds = 30;
    EXPECT_EQ(bits_of(fleet, true), bits_of(fleet, false)) << algorithm;
  }
}

/// A peer is cut off and another one stands still, so that halves arrive late during gradients.
TEST(Overlap, KeepsTheMeanThroughCutsAndStops) {
  for (int at = 5; at < 40; at += 7) {
    Fleet fleet = quadratic_fleet(6, "ring", "d-psgd", "lian");
    fleet.network.latency = std::chrono::microseconds(300);
    fleet.flops = 1e5;
    fleet.stop.rounds = 300;
    using std::chrono::milliseconds;
    SimulationOptions options = injecting({{.at = milliseconds(at),
                                            .kind = Injection::Kind::cut,
                                            .peer = 1,
                                            .other = 2,
                                            .length = milliseconds(150)},
                                           {.at = milliseconds(at + 3),
                                            .kind = Injection::Kind::stop,
                                            .peer = 4,
                                            .other = 0,
                                            .length = milliseconds(100)}});
    const Assembly assembly(fleet);
    options.replica = mixed(assembly);
    Observer observer(fleet.size(), assembly.evaluator(), {});
    const SimulationResult result = simulate(assembly, observer, options);
    EXPECT_TRUE(result.whole()) << at;
    EXPECT_TRUE(result.violations.empty()) << at << ": " << result.violations.front();
    EXPECT_LT(result.drift, 1e-5) << at;
  }
}

}  // namespace
}  // namespace gv
