#include <algorithm>
#include <mutex>
#include <thread>

#include <asio.hpp>
#include <gtest/gtest.h>

#include "gpu/cuda_replica.h"
#include "peer/runtime/tcp_peer.h"
#include "peer/sim/simulation.h"
#include "tests/peer/proxy.h"
#include "tests/peer/test_fleet.h"

namespace gv {
namespace {

/// All peers of a fleet over loopback TCP, each with its own loop thread in this process.
class LoopbackFleet {
 public:
  explicit LoopbackFleet(const Assembly& fleet)
      : observer(fleet.fleet.size(), fleet.evaluator(), {}) {
    const PeerId n = fleet.fleet.size();
    for (PeerId i = 0; i < n; ++i) {
      TcpPeerOptions options;
      options.on_report = [this](Report report) {
        // A peer's buffers go back to its own pool, on its own loop.
        const auto copy = std::make_shared<Buffer>(report.model->size());
        std::ranges::copy(report.model->floats(), copy->floats().begin());
        report.model = copy;
        const std::lock_guard lock(mutex_);
        observer.take(std::move(report), Time{0});
      };
      options.log = [this](const std::string& line) {
        const std::lock_guard lock(mutex_);
        log += line + "\n";
      };
      peers.push_back(std::make_unique<TcpPeer>(fleet, i, std::move(options)));
      addresses.push_back({i, "127.0.0.1", peers.back()->listen()});
    }
  }

  void run() {
    std::vector<std::thread> threads;
    for (const auto& peer : peers) threads.emplace_back([&] { peer->run(addresses); });
    for (std::thread& thread : threads) thread.join();
  }

  Observer observer;
  std::vector<std::unique_ptr<TcpPeer>> peers;
  std::vector<PeerAddress> addresses;
  std::string log;

 private:
  std::mutex mutex_;
};

/// A fleet whose every connection goes through a proxy that does harm.
struct HarmedFleet {
  HarmedFleet(const Assembly& assembly, Harm harm, std::uint64_t seed) : fleet(assembly) {
    for (PeerAddress& address : fleet.addresses) {
      proxies.push_back(std::make_unique<Proxy>(address.port, harm, seed * 100 + address.peer));
      address.port = proxies.back()->port();
    }
  }
  LoopbackFleet fleet;
  std::vector<std::unique_ptr<Proxy>> proxies;
};

struct Outcome {
  std::string hash;
  std::uint64_t sent_bytes;
};

Outcome over_tcp(const Assembly& assembly) {
  LoopbackFleet fleet(assembly);
  fleet.run();
  EXPECT_EQ(fleet.log, "");
  return {fleet.observer.params_hash(), fleet.observer.summary()->sent_bytes};
}

Outcome in_virtual_time(const Assembly& assembly) {
  Observer observer(assembly.fleet.size(), assembly.evaluator(), {});
  simulate(assembly, observer, {});
  return {observer.params_hash(), observer.summary()->sent_bytes};
}

void expect_same_bits(const Fleet& fleet) {
  const Assembly assembly(fleet);
  const Outcome tcp = over_tcp(assembly);
  const Outcome simulated = in_virtual_time(assembly);
  EXPECT_EQ(tcp.hash, simulated.hash);
  EXPECT_EQ(tcp.sent_bytes, simulated.sent_bytes);
}

struct Rule {
  const char* algorithm;
  const char* order;
};
class SameBits : public testing::TestWithParam<Rule> {};

TEST_P(SameBits, OverTcpAndInVirtualTime) {
  for (const PeerId n : {1U, 2U, 3U, 8U, 9U}) {
    for (const std::uint32_t d : {1U, 2U, 1000U, 131'072U, 200'000U}) {
      SCOPED_TRACE(testing::Message() << "n " << n << ", d " << d);
      Fleet fleet = quadratic_fleet(n, "ring", GetParam().algorithm, GetParam().order);
      fleet.data.quadratic = {.dimension = d,
                              .hessian = {1, 0.5, 0.1},
                              .noise = 1,
                              .spread = 1,
                              .start = 0,
                              .centers = {}};
      fleet.optimizer.momentum = 0.9;
      fleet.stop.rounds = 5;
      fleet.evaluate_every = 2;
      expect_same_bits(fleet);
    }
  }
}

TEST_P(SameBits, WithSharesOfUnequalSizes) {
  Fleet fleet = quadratic_fleet(8, "ring", GetParam().algorithm, GetParam().order);
  fleet.data = {};
  fleet.data.train = 1000;
  fleet.data.test = 100;
  fleet.data.partition = {.kind = "quantity", .sizes = {3, 10, 40, 100, 7, 200, 33, 64}};
  fleet.model = {.kind = "mlp", .hidden = {32}};
  fleet.stop.rounds = 30;
  expect_same_bits(fleet);
}

TEST_P(SameBits, OnOtherGraphs) {
  for (const char* graph : {"torus:3x3", "star", "complete", "exponential"}) {
    SCOPED_TRACE(graph);
    Fleet fleet = quadratic_fleet(9, graph, GetParam().algorithm, GetParam().order);
    fleet.stop.rounds = 20;
    expect_same_bits(fleet);
  }
}

struct Changing {
  const char* schedule;
  PeerId peers;
};
constexpr Changing changing[] = {{"one-peer-exponential", 8},
                                 {"one-peer-exponential", 6},
                                 {"one-peer-exponential", 2},
                                 {"random-matching", 7},
                                 {"random-matching", 8},
                                 {"base:k=1", 6},
                                 {"base:k=2", 8},
                                 {"od-equi-dyn", 6},
                                 {"ou-equi-dyn:m=3,seed=3", 7},
                                 {"matcha:budget=0.4,graph=torus:3x3", 9}};

TEST_P(SameBits, OnGraphsThatChangeWithTheRound) {
  for (const auto& [schedule, n] : changing) {
    for (const std::uint32_t d : {10U, 200'000U}) {
      SCOPED_TRACE(testing::Message() << schedule << " on " << n << ", d " << d);
      Fleet fleet = quadratic_fleet(n, schedule, GetParam().algorithm, GetParam().order);
      fleet.data.quadratic.dimension = d;
      fleet.data.quadratic.spread = 1;
      fleet.stop.rounds = d == 10 ? 200 : 20;
      expect_same_bits(fleet);
    }
  }
}

/// Whatever is lost with a connection is sent again over the next one, once: the same bits as in an
/// undisturbed run.
TEST_P(SameBits, WhateverBecomesOfConnections) {
  for (const std::uint64_t seed : {1U, 2U, 3U}) {
    for (const Harm harm : {Harm{.cut_after = 30'000}, Harm{.flip_after = 60'000}}) {
      const char* graph = seed < 3 ? "ring" : "random-matching";
      Fleet file = quadratic_fleet(5, graph, GetParam().algorithm, GetParam().order);
      file.seed = seed;
      file.data.quadratic.dimension = 500;
      file.data.quadratic.spread = 1;
      file.stop.rounds = 150;
      const Assembly assembly(file);
      HarmedFleet harmed(assembly, harm, seed);
      harmed.fleet.run();
      int harms = 0;
      for (const auto& proxy : harmed.proxies) harms += proxy->cuts() + proxy->flips();
      EXPECT_GE(harms, 10);
      EXPECT_EQ(harmed.fleet.observer.params_hash(), in_virtual_time(assembly).hash)
          << "seed " << seed << ", " << harms << " times\n"
          << harmed.fleet.log;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(EveryRule,
                         SameBits,
                         testing::Values(Rule{"d-psgd", "lian"},
                                         Rule{"d-psgd", "atc"},
                                         Rule{"d-psgd", "cta"},
                                         Rule{"all-reduce", ""}),
                         [](const auto& row) {
                           const std::string name =
                               std::string(row.param.algorithm) + "_" + row.param.order;
                           std::string plain;
                           for (const char c : name) plain += c == '-' ? '_' : c;
                           return plain;
                         });

/// The emulated network takes its time, and only that. Two runs side by side, so that what else the
/// machine does slows both: with a hundred times the latency and a hundredth of the bandwidth the
/// second one is still under way when the first one ends.
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

/// Runs a peer until it throws; gives what it said. `others` stand in for the rest of the fleet.
std::string failure_of(TcpPeer& peer, const std::vector<PeerAddress>& addresses) {
  try {
    peer.run(addresses);
  } catch (const std::runtime_error& e) {
    return e.what();
  }
  return "";
}

/// One peer of `fleet` whose log is kept.
struct LonePeer {
  LonePeer(const Assembly& fleet, PeerId id, Time deadline) {
    TcpPeerOptions options;
    options.connect_deadline = deadline;
    options.on_report = [](const Report&) {};
    options.log = [this](const std::string& line) { log += line + "\n"; };
    peer = std::make_unique<TcpPeer>(fleet, id, std::move(options));
    port = peer->listen();
  }
  std::string log;
  std::unique_ptr<TcpPeer> peer;
  std::uint16_t port = 0;
};

/// Peers 0 and 1 of two fleets that do not fit: what the dialling side threw, and the accepting
/// side.
std::pair<std::string, std::string> meet(const Fleet& dialling, const Fleet& accepting) {
  const Assembly fleet0(dialling);
  const Assembly fleet1(accepting);
  LonePeer zero(fleet0, 0, std::chrono::seconds(60));
  LonePeer one(fleet1, 1, std::chrono::milliseconds(300));
  const std::vector<PeerAddress> addresses{
      {0, "127.0.0.1", zero.port}, {1, "127.0.0.1", one.port}, {2, "127.0.0.1", 1}};
  std::string said_one;
  std::thread thread([&] { said_one = failure_of(*one.peer, addresses); });
  const std::string said_zero = failure_of(*zero.peer, addresses);
  thread.join();
  return {said_zero, one.log + said_one};
}

TEST(Tcp, APeerOfAnotherFleetIsRefusedOnBothSides) {
  const Fleet ours = quadratic_fleet(2, "complete", "d-psgd", "lian");
  Fleet other = ours;
  other.digest = "another";
  Fleet larger = ours;
  larger.data.quadratic.dimension = 17;
  for (const auto& [theirs, reason] : {std::pair{other, "another fleet"},
                                       std::pair{larger, "another model shape"},
                                       std::pair{quadratic_fleet(3, "complete", "d-psgd", "lian"),
                                                 "a fleet of 2 peers, ours has 3"}}) {
    const auto [dialling, accepting] = meet(ours, theirs);
    EXPECT_NE(dialling.find(reason), std::string::npos) << dialling;
    EXPECT_NE(accepting.find(reason), std::string::npos) << accepting;
    EXPECT_NE(accepting.find("refused a connection from 127.0.0.1"), std::string::npos);
  }
}

TEST(Tcp, SaysWhichPeersCouldNotBeReached) {
  const Assembly fleet(quadratic_fleet(3, "complete", "d-psgd", "lian"));
  LonePeer one(fleet, 1, std::chrono::milliseconds(200));
  const std::string said = failure_of(*one.peer, {{2, "127.0.0.1", 1}});
  EXPECT_EQ(said, "not connected in time: peer 0, peer 2 (Connection refused)");
}

TEST(Tcp, ADeviceThatIsNotThereIsNamedAndTheSimulatorNeedsNone) {
  if (cuda_available()) GTEST_SKIP() << "this machine has a CUDA device";
  Fleet file = quadratic_fleet(2, "complete", "d-psgd", "lian");
  const std::string on_cpu = in_virtual_time(Assembly(file)).hash;
  file.peers[1].device = "cuda:0";
  const Assembly fleet(file);
  EXPECT_THROW(TcpPeer(fleet, 1, {}), std::runtime_error);
  EXPECT_EQ(in_virtual_time(fleet).hash, on_cpu);
}

TEST(Tcp, ATakenPortIsNamed) {
  const Assembly fleet(quadratic_fleet(2, "complete", "d-psgd", "lian"));
  const LonePeer first(fleet, 0, std::chrono::seconds(1));
  TcpPeerOptions options;
  options.listen_port = first.port;
  TcpPeer second(fleet, 1, std::move(options));
  try {
    second.listen();
    FAIL() << "the port was taken twice";
  } catch (const std::runtime_error& e) {
    EXPECT_NE(std::string(e.what()).find(":" + std::to_string(first.port)), std::string::npos);
    EXPECT_NE(std::string(e.what()).find("in use"), std::string::npos) << e.what();
  }
}

/// A stranger who writes `bytes` to peer 1 of two and reads until it is closed.
std::string strangers_fate(const std::vector<std::byte>& bytes) {
  const Assembly fleet(quadratic_fleet(2, "complete", "d-psgd", "lian"));
  LonePeer one(fleet, 1, std::chrono::milliseconds(200));
  std::thread thread([&] { failure_of(*one.peer, {}); });
  asio::io_context io;
  asio::ip::tcp::socket socket(io);
  socket.connect({asio::ip::make_address("127.0.0.1"), one.port});
  asio::error_code error;
  asio::write(socket, asio::buffer(bytes.data(), bytes.size()), error);
  std::vector<char> answer;
  asio::read(socket, asio::dynamic_buffer(answer), error);
  thread.join();
  return one.log;
}

TEST(Tcp, StrangersAreToldOffAndLogged) {
  EXPECT_NE(strangers_fate(std::vector<std::byte>(100)).find("not a grapevine frame"),
            std::string::npos);
  wire::Hello self;
  self.peer = 1;
  EXPECT_NE(strangers_fate(wire::encode(self)).find("a fleet of 0 peers"), std::string::npos);
  const Message early{.from = 0, .kind = Kind::goodbye, .step = 0, .part = 0, .payload = {}};
  EXPECT_NE(strangers_fate(wire::encode(early, {}, wire::hash_payload({}))).find("no Hello"),
            std::string::npos);
}

/// Peer 0 of two breaks off in the middle of the run; peer 1 goes on alone and finishes.
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
      all.peers[0].reset();  // as a killed process: its sockets close, no goodbye
    }
  });
  std::function<void(Step)> die_at_round_ten = [&](Step step) {
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
