#include <functional>
#include <mutex>
#include <stdexcept>
#include <thread>

#include <gtest/gtest.h>

#include "gpu/cuda_replica.h"
#include "tests/peer/fleet/test_fleet.h"
#include "tests/peer/wire/tcp/loopback_fleet.h"

namespace gv {
namespace {

/// The emulated network only takes time. Two runs share the machine, so that other load slows both.
/// With a hundred times the latency and a hundredth of the bandwidth, the second is still running
/// when the first ends.
TEST(Tcp, TheEmulatedNetworkTakesTimeAndChangesNoBit) {
  const auto fleet_on = [](Time latency, double bandwidth) {
    Fleet fleet = quadratic_fleet(4, "ring", "d-psgd", "atc");
    fleet.data.quadratic.dimension = 2000;
    fleet.data.quadratic.spread = 1;
    fleet.stop.rounds = 20;
    fleet.network = {.latency = latency, .bandwidth = bandwidth, .emulate = true};
    return fleet;
  };
  const Assembly fast(fleet_on(std::chrono::microseconds(300), 80e6));
  const Assembly slow(fleet_on(std::chrono::milliseconds(30), 0.8e6));
  LoopbackFleet quick(fast);
  LoopbackFleet late(slow);
  std::vector<int> order;
  std::mutex mutex;
  const auto run = [&](LoopbackFleet& fleet, int name) {
    fleet.run();
    const std::lock_guard lock(mutex);
    order.push_back(name);
  };
  std::thread other([&] { run(late, 2); });
  run(quick, 1);
  other.join();
  EXPECT_EQ(order, (std::vector<int>{1, 2}));
  EXPECT_EQ(quick.log + late.log, "");
  const std::string hash = in_virtual_time(fast).hash;
  EXPECT_EQ(quick.observer.params_hash(), hash);
  EXPECT_EQ(late.observer.params_hash(), hash);
}

TEST(Tcp, ADeviceThatIsNotThereIsNamedAndTheSimulatorNeedsNone) {
  if (cuda_available()) GTEST_SKIP() << "this machine has a CUDA device";
  Fleet file = quadratic_fleet(2, "complete", "d-psgd", "lian");
  file.data = {};
  file.data.kind = "blobs";
  file.data.train = 40;
  file.model = {"mlp", {{"hidden", Widths{4}}}};
  const std::string on_cpu = in_virtual_time(Assembly(file)).hash;
  file.peers[1].device = "cuda:0";
  const Assembly fleet(file);
  EXPECT_THROW(TcpPeer(fleet, 1, {}), std::runtime_error);
  EXPECT_EQ(in_virtual_time(fleet).hash, on_cpu);
}

/// Peer 0 of three breaks off in the middle of the run. The two others continue and finish.
TEST(Tcp, ALostNeighbourDoesNotStopTheOthers) {
  Fleet file = quadratic_fleet(3, "complete", "d-psgd", "lian");
  file.stop.rounds = 2'000'000;
  const Assembly fleet(file);
  LoopbackFleet all(fleet);
  std::vector<std::thread> threads;
  for (const PeerId i : {1U, 2U})
    threads.emplace_back([&, i] { all.peers[i]->run(all.addresses); });
  std::thread doomed([&] {
    try {
      all.peers[0]->run(all.addresses);
      ADD_FAILURE() << "peer 0 was to die";
    } catch (const std::domain_error&) {
      all.peers[0].reset();  // like a killed process: its sockets close, without a goodbye
    }
  });
  std::function<void(Round)> die_at_round_ten = [&](Round step) {
    if (step >= 10) throw std::domain_error("dies");
    all.peers[0]->ask(die_at_round_ten);
  };
  all.peers[0]->ask(die_at_round_ten);
  doomed.join();
  for (const PeerId i : {1U, 2U}) all.peers[i]->stop();
  for (std::thread& thread : threads) thread.join();
  EXPECT_NE(all.log.find("peer 0 is away"), std::string::npos) << all.log;
  EXPECT_EQ(all.observer.finals().size(), 2U);
}

}  // namespace
}  // namespace gv
