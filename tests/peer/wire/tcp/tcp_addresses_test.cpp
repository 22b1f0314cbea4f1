#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "tests/peer/fleet/test_fleet.h"
#include "tests/peer/launch/program.h"
#include "tests/peer/wire/tcp/besieged.h"
#include "tests/peer/wire/tcp/loopback_fleet.h"
#include "tests/peer/wire/tcp/proxy.h"
#include "tests/peer/wire/tcp/silent_address.h"

// Peers whose names have several addresses, of which some are dead.

namespace gv {
namespace {

Fleet two_peers(const std::string& algorithm, const std::string& order) {
  Fleet file = quadratic_fleet(2, "complete", algorithm, order);
  file.network.local = LocalTransport::tcp;
  return file;
}

/// Returns addresses whose first one is closed, the second silent, and the third correct.
std::vector<PeerAddress> with_dead_ones(std::vector<PeerAddress> addresses) {
  for (PeerAddress& each : addresses) {
    each.more = {"127.0.0.3", each.host};
    each.host = "127.0.0.2";
  }
  return addresses;
}

TEST(TcpAddresses, ADeadOneGivesWayToTheNext) {
  const Assembly fleet(two_peers("d-psgd", "lian"));
  LoopbackFleet real(fleet);
  const SilentAddress first(real.addresses[0].port), second(real.addresses[1].port);
  real.addresses = with_dead_ones(real.addresses);
  real.run();
  EXPECT_EQ(real.log, "");
  EXPECT_EQ(real.observer.params_hash(), in_virtual_time(fleet).hash);
}

/// Both ends listen only at ::1, their last address.
TEST(TcpAddresses, OfIPv6TrainToTheSameBits) {
  if (!has_ipv6()) GTEST_SKIP() << "this machine has no IPv6";
  for (const SecurityMode mode : {SecurityMode::automatic, SecurityMode::tls}) {
    Fleet file = two_peers("d-psgd", "lian");
    file.security.mode = mode;
    const Assembly fleet(file);
    const std::vector<PeerKeys> keys = make_keys(2);
    std::vector<std::unique_ptr<TcpPeer>> peers;
    std::vector<PeerAddress> addresses;
    std::atomic<int> reports = 0;
    for (PeerId i = 0; i < 2; ++i) {
      TcpPeerOptions options;
      options.listen_address = "::1";
      options.keys = std::make_shared<TlsContext>(keys[i]);
      options.on_report = [&](const Report& report) { reports += report.last ? 1 : 0; };
      options.log = [](const std::string& line) { ADD_FAILURE() << line; };
      peers.push_back(std::make_unique<TcpPeer>(fleet, i, std::move(options)));
      addresses.push_back({i, "localhost", peers.back()->listen()});
    }
    std::thread other([&] { peers[0]->run(addresses); });
    peers[1]->run(addresses);
    other.join();
    EXPECT_EQ(reports, 2);
  }
}

/// The accepting end once tried only the first address of a name, and took a live neighbour for
/// dead after one reset; all-reduce ended with exit code 3. Here peer 0 dials peer 1 and has a
/// closed first address. All their connections are reset eight times. Later resets could hit the
/// last words of a peer that has left; the other peer then waits for them in vain.
TEST(TcpAddresses, ANeighbourLivesWhileOneOfThemAnswers) {
  Fleet file = two_peers("all-reduce", "");
  file.stop.rounds = 4000;
  const Assembly fleet(file);
  LoopbackFleet real(fleet);
  Proxy proxy(real.addresses[1].port, {}, 7);
  std::vector<PeerAddress> seen_by_zero = real.addresses;
  seen_by_zero[1].port = proxy.port();
  std::vector<PeerAddress> seen_by_one = real.addresses;
  seen_by_one[0].more = {seen_by_one[0].host};
  seen_by_one[0].host = "127.0.0.2";
  std::atomic<bool> over = false;
  std::thread resets([&] {
    for (int i = 0; i < 8 && !over; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      proxy.reset_all();
    }
  });
  std::thread zero([&] { real.peers[0]->run(seen_by_zero); });
  real.peers[1]->run(seen_by_one);
  zero.join();
  over = true;
  resets.join();
  EXPECT_NE(real.log.find("connection to peer 0 lost"), std::string::npos) << real.log;
  EXPECT_EQ(real.log.find("is away"), std::string::npos) << real.log;
  EXPECT_EQ(real.observer.params_hash(), in_virtual_time(fleet).hash);
}

/// A silent program has a neighbour's first address. The next attempt uses the other address.
TEST(TcpAddresses, AStrangerAtTheFirstOneIsPassedBy) {
  const Assembly fleet(two_peers("d-psgd", "lian"));
  LoopbackFleet real(fleet);
  const std::vector<Descriptor> stranger = listening_sockets("127.0.0.2", real.addresses[1].port);
  real.addresses[1].more = {real.addresses[1].host};
  real.addresses[1].host = "127.0.0.2";
  real.run();
  EXPECT_EQ(real.observer.params_hash(), in_virtual_time(fleet).hash) << real.log;
}

}  // namespace
}  // namespace gv
