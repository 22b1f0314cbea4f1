#include <atomic>
#include <chrono>
#include <memory>
#include <semaphore>
#include <string>
#include <thread>
#include <utility>

#include <gtest/gtest.h>

#include "gossip/peer.h"
#include "optim/replica/host_replica.h"
#include "peer/sim/world/audit.h"
#include "peer/wire/tcp/tcp_world.h"
#include "tests/peer/fleet/test_fleet.h"
#include "tests/peer/wire/tcp/loopback_fleet.h"

namespace gv {
namespace {

/// A peer without neighbours, over TCP.
class TcpLanes : public testing::Test {
 protected:
  void SetUp() override {
    TcpOptions options;
    options.links.self = {.fleet = "", .model = "", .peer = 0, .incarnation = 1, .peers = 1};
    options.log = [](const std::string&) {};
    options.runs_inline = [this](double flops) { return asked->runs_inline(flops); };
    world = TcpWorld::make(std::move(options));
    world->listen();
    replica = make_host_replica(make_quadratic(QuadraticSpec{}, 0, 1, Rng(1)), {}, 1, Rng(1));
    asked = replica.get();
    Plan alone;
    alone.neighborhood = {1, {}, {}, {}};
    peer = std::make_unique<Peer>(std::move(alone), *world, nobody, *replica);
  }
  void run(std::function<void()> begin) { world->run({}, *peer, std::move(begin)); }

  static constexpr double long_work = 1e9;  ///< too much for the loop's own thread
  Journal nobody;                           ///< takes the peer's reports
  std::unique_ptr<TcpWorld> world;
  std::unique_ptr<Replica> replica;
  const Replica* asked = nullptr;  ///< the replica asked whether a job may run inline
  std::unique_ptr<Peer> peer;
};

TEST_F(TcpLanes, JobsOfALaneAreDoneInTheOrderOfTheCalls) {
  std::string order;
  run([&] {
    for (const char name : {'a', 'b', 'c', 'd'}) {
      // Short work waits for the long job before it.
      world->offload(
          Lane::home, name == 'a' ? long_work : 1, [&order, name] { order += name; },
          [&, name] {
            if (name == 'd') world->abandon();
          });
    }
  });
  EXPECT_EQ(order, "abcd");
}

/// Each job ends only after the other has begun.
TEST_F(TcpLanes, TheTwoLanesRunAtTheSameTime) {
  std::binary_semaphore home(0);
  std::binary_semaphore beside(0);
  bool met_at_home = false;
  bool met_beside = false;
  int left = 2;
  const auto done = [&] {
    if (--left == 0) world->abandon();
  };
  const auto meet = [](std::binary_semaphore& here, std::binary_semaphore& there, bool& met) {
    here.release();
    met = there.try_acquire_for(std::chrono::seconds(60));
  };
  run([&] {
    world->offload(
        Lane::home, long_work, [&] { meet(home, beside, met_at_home); }, done);
    world->offload(
        Lane::beside, long_work, [&] { meet(beside, home, met_beside); }, done);
  });
  EXPECT_TRUE(met_at_home);
  EXPECT_TRUE(met_beside);
}

/// Returns the thread that runs a job of `flops` flops.
std::thread::id thread_of_a_job(TcpWorld& world, Peer& peer, double flops) {
  std::thread::id thread;
  world.run({}, peer, [&] {
    world.offload(
        Lane::home, flops, [&] { thread = std::this_thread::get_id(); }, [&] { world.abandon(); });
  });
  return thread;
}

TEST_F(TcpLanes, TheLoopDoesShortWorkItself) {
  EXPECT_EQ(thread_of_a_job(*world, *peer, 1), std::this_thread::get_id());
}

TEST_F(TcpLanes, TheLoopDoesNoLongWork) {
  EXPECT_NE(thread_of_a_job(*world, *peer, long_work), std::this_thread::get_id());
}

/// A replica whose jobs all wait for copies, even short ones.
class DeviceReplica : public AccountedReplica {
 public:
  using AccountedReplica::AccountedReplica;
  bool runs_inline(double) const override { return false; }
};

TEST_F(TcpLanes, TheLoopDoesNoWorkOfADevice) {
  DeviceReplica device(std::move(replica));
  asked = &device;
  Peer owner(peer->plan, *world, nobody, device);
  EXPECT_NE(thread_of_a_job(*world, owner, 1), std::this_thread::get_id());
}

/// State that the replicas of one fleet share.
struct Race {
  static constexpr std::uint32_t rounds = 40;
  static constexpr std::uint32_t enough = 10;  ///< a peer may end together with its neighbours
  std::counting_semaphore<3> through{0};       ///< peers that have done enough rounds
  std::atomic<int> waited_for = 0;             ///< peers that finished in its first gradient
  std::atomic<int> averages = 0;  ///< averages of the slow peer during its first gradient
  std::atomic<bool> computing = false;
};

/// Its first gradient lasts until the three others have done all their rounds.
class SlowReplica : public AccountedReplica {
 public:
  SlowReplica(std::unique_ptr<Replica> real, Race& race)
      : AccountedReplica(std::move(real)), race_(race) {}
  bool runs_inline(double) const override { return false; }
  void gradient() override {
    if (!std::exchange(begun_, true)) {
      race_.computing = true;
      while (race_.waited_for < 3 && race_.through.try_acquire_for(std::chrono::seconds(60)))
        ++race_.waited_for;
      race_.computing = false;
    }
    AccountedReplica::gradient();
  }
  bool add_flow(Vector v, Range r, float w, const Buffer& theirs, const Buffer& ours) override {
    if (race_.computing) ++race_.averages;
    return AccountedReplica::add_flow(v, r, w, theirs, ours);
  }

 private:
  Race& race_;
  bool begun_ = false;
};

class QuickReplica : public AccountedReplica {
 public:
  QuickReplica(std::unique_ptr<Replica> real, Race& race)
      : AccountedReplica(std::move(real)), race_(race) {}
  void step() override {
    AccountedReplica::step();
    if (++steps_ == Race::enough) race_.through.release();
  }

 private:
  Race& race_;
  std::uint32_t steps_ = 0;
};

/// A peer once answered only between its gradients, and the peers that had drawn it waited.
TEST(AdPsgdOverTcp, AnswersWhileItComputesAndKeepsNobodyWaiting) {
  Fleet file = quadratic_fleet(4, "ring", "ad-psgd", "");
  file.stop.rounds = Race::rounds;
  const Assembly assembly(file);
  Race race;
  LoopbackFleet fleet(assembly, [&](PeerId i) {
    PeerParts parts;
    parts.replica = [&race, i](std::unique_ptr<Replica> real) -> std::unique_ptr<Replica> {
      if (i == 0) return std::make_unique<SlowReplica>(std::move(real), race);
      return std::make_unique<QuickReplica>(std::move(real), race);
    };
    return parts;
  });
  fleet.run();
  EXPECT_EQ(race.waited_for, 3);
  EXPECT_GT(race.averages, 0);
}

}  // namespace
}  // namespace gv
