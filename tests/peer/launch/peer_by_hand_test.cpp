#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>

#include <gtest/gtest.h>
#include <unistd.h>

#include "tests/peer/launch/launch_fixture.h"

namespace gv {
namespace {

namespace fs = std::filesystem;

/// Two entries of `hosts` on loopback, each with its own port.
std::string by_hand(const fs::path& folder, std::uint16_t port, const std::string& more = "") {
  const std::string path = (folder / "lan.yaml").string();
  std::ofstream(path) << "version: 1\nname: lan\nhosts:\n"
                      << "  a: { address: 127.0.0.1, port: " << port << " }\n"
                      << "  b: { address: 127.0.0.1, port: " << port + 1 << " }\n"
                      << "peers: [{ host: a }, { host: b }]\n"
                         "data: { kind: quadratic, dimension: 8 }\nmodel: quadratic\n"
                         "train: { optimizer: { kind: sgd, lr: 0.05 } }\n"
                         "topology: complete\nstop: { rounds: 40 }\n"
                      << more << "output: { dir: " << (folder / "run").string() << " }\n";
  return path;
}

/// Returns the first of two neighbouring ports that only this test process uses.
std::uint16_t free_ports() {
  return static_cast<std::uint16_t>(20'000 + (getpid() * 2) % 10'000);
}

TEST_F(Launch, PeersStartedByHandMeetAndFinish) {
  const std::string file = by_hand(folder_, free_ports());
  Program zero({"peer", file, "--id", "0", "--json"});
  Program one({"peer", file, "--id", "1", "--json"});
  const Ended a = zero.wait();
  const Ended b = one.wait();
  EXPECT_EQ(a.code, 0) << a.err;
  EXPECT_EQ(b.code, 0) << b.err;
  EXPECT_EQ(a.summary().at("round"), 40);
  EXPECT_TRUE(fs::exists(folder_ / "run/peers/000/model.safetensors"));
  EXPECT_TRUE(fs::exists(folder_ / "run/peers/001/model.safetensors"));
}

/// A peer once waited silently for two minutes, without a word about which peer it missed.
TEST_F(Launch, APeerByHandSaysForWhomItWaits) {
  const std::uint16_t port = free_ports();
  const Ended end = run({"peer", by_hand(folder_, port), "--id", "0", "--wait", "0.5"});
  EXPECT_EQ(end.code, 5);
  const std::string said = fmt::format("waits up to 500 ms for peer 1 at 127.0.0.1:{}\n", port + 1);
  EXPECT_NE(end.err.find(said), std::string::npos) << end.err;
  EXPECT_NE(end.err.find("not connected in time: peer 1"), std::string::npos) << end.err;
}

/// No peer has a fixed address, and an engine gives each its number.
TEST_F(Launch, PeersMeetInAFolder) {
  const std::string file = fleet(3, 40);
  std::vector<std::unique_ptr<Program>> peers;
  for (const char* rank : {"0", "1", "2"}) {
    ::setenv("PMIX_RANK", rank, 1);
    peers.push_back(std::make_unique<Program>(
        std::vector<std::string>{"peer", file, "--meet", path("meeting"), "--json"}));
  }
  ::unsetenv("PMIX_RANK");
  for (std::size_t i = 0; i < peers.size(); ++i) {
    const Ended end = peers[i]->wait();
    EXPECT_EQ(end.code, 0) << end.err;
    EXPECT_EQ(end.summary().at("round"), 40);
    EXPECT_NE(end.err.find(fmt::format("this is peer {}, according to PMIX_RANK", i)),
              std::string::npos);
  }
}

/// An engine restarts a dead peer, which joins those that still train. Finished peers stay
/// finished.
TEST_F(Launch, APeerThatAnEngineStartsAgainRejoins) {
  const std::string file = fleet(2, 0, "faults: { deadline: 1 s }\n");
  const std::string at = fmt::format("127.0.0.1:{}", free_ports());
  const auto peer = [&](const char* id, const std::string& stop) {
    return std::vector<std::string>{
        "peer", file, "--id", id, "--at", at, "--rejoin-after-restart", "--set", "stop=" + stop};
  };
  const std::string endless = "{ time: 1 h }";
  Program zero(peer("0", endless));
  auto one = std::make_unique<Program>(peer("1", endless));
  ASSERT_TRUE(one->says("connected with all neighbours"));
  one->kill(SIGKILL);
  one->wait();
  one = std::make_unique<Program>(peer("1", endless));
  ASSERT_TRUE(one->says("peer 1 was started before: it rejoins"));
  ASSERT_TRUE(one->says("connected with all neighbours"));
  one->kill(SIGTERM);
  EXPECT_EQ(one->wait().code, 143);
  zero.kill(SIGTERM);
  EXPECT_EQ(zero.wait().code, 143);

  fs::remove_all(folder_ / "run");
  Program first(peer("0", "{ rounds: 20 }"));
  EXPECT_EQ(run(peer("1", "{ rounds: 20 }")).code, 0);
  EXPECT_EQ(first.wait().code, 0);
  std::vector<std::string> staying = peer("1", "{ rounds: 20 }");
  staying.emplace_back("--stay");
  Program again(staying);
  ASSERT_TRUE(again.says("peer 1 has finished before"));
  ASSERT_TRUE(again.says("stays until SIGTERM"));
  again.kill(SIGTERM);
  EXPECT_EQ(again.wait().code, 0);
}

/// The new pod is on another node, with an empty folder. The engine reports that the peer has lived
/// before.
TEST_F(Launch, APodThatWasReplacedTakesANeighboursModel) {
  const std::string file = fleet(2, 0, "faults: { deadline: 1 s }\n");
  const std::string at = fmt::format("127.0.0.1:{}", free_ports());
  const auto peer = [&](const std::string& id, const std::string& restarts) {
    return std::vector<std::string>{"/usr/bin/env",
                                    "GRAPEVINE_RESTARTS=" + restarts,
                                    grapevine_program(),
                                    "peer",
                                    file,
                                    "--id",
                                    id,
                                    "--at",
                                    at,
                                    "--rejoin-after-restart"};
  };
  Program zero(peer("0", "0"), Program::as_it_stands);
  auto one = std::make_unique<Program>(peer("1", "0"), Program::as_it_stands);
  ASSERT_TRUE(one->says("connected with all neighbours"));
  one->kill(SIGKILL);
  one->wait();
  fs::remove_all(folder_ / "run/peers/001");
  one = std::make_unique<Program>(peer("1", "1"), Program::as_it_stands);
  ASSERT_TRUE(one->says("took the model of peer 0"));
  one->kill(SIGTERM);
  EXPECT_EQ(one->wait().code, 143);
  zero.kill(SIGTERM);
  EXPECT_EQ(zero.wait().code, 143);
}

/// A peer with a time limit once trained for ever.
TEST_F(Launch, APeerByHandStopsWhenItsTimeIsUp) {
  const std::string file = fleet(2, 0);
  const std::string at = fmt::format("127.0.0.1:{}", free_ports());
  const auto peer = [&](const char* id, const std::string& stop) {
    return std::vector<std::string>{"peer", file, "--id", id, "--at", at, "--set", "stop=" + stop};
  };
  Program zero(peer("0", "{ time: 300 ms }"));
  const Ended one = run(peer("1", "{ time: 300 ms }"));
  EXPECT_EQ(one.code, 0) << one.err;
  EXPECT_NE(one.err.find("the time is up"), std::string::npos) << one.err;
  EXPECT_EQ(zero.wait().code, 0);
  const Ended endless = run(peer("0", "{ target: { loss: 0.1 } }"));
  EXPECT_EQ(endless.code, 5);
  EXPECT_NE(endless.err.find("nothing else stops this peer"), std::string::npos) << endless.err;
}

TEST_F(Launch, OneWayToFindTheOthersIsEnough) {
  EXPECT_EQ(run({"peer", fleet(2, 9), "--id", "0", "--at", "a:1", "--meet", path("m")}).code, 2);
  EXPECT_EQ(run({"peer", fleet(2, 9), "--id", "0", "--stay"}).code, 2);
  const Ended end = run({"peer", fleet(2, 9), "--id", "0", "--at", "a", "--wait", "1"});
  EXPECT_EQ(end.code, 2);
  EXPECT_NE(end.err.find("{id}"), std::string::npos) << end.err;
}

TEST_F(Launch, WhoDoesNotComeToAMeetingIsNamed) {
  const Ended end = run({"peer", fleet(3, 40), "--id", "0", "--meet", path("m"), "--wait", "0.5"});
  EXPECT_EQ(end.code, 5);
  EXPECT_NE(end.err.find("peers 1, 2 have not come to"), std::string::npos) << end.err;
}

TEST_F(Launch, APeerWithoutANumberIsAskedForIt) {
  const Ended end = run({"peer", fleet(3, 40)});
  EXPECT_EQ(end.code, 2);
  EXPECT_NE(end.err.find("--id N"), std::string::npos) << end.err;
}

/// `peer` and `simulate` once ended with 0, and a script continued with a model of NaN.
TEST_F(Launch, ALossThatIsNotFiniteIsAFailureInEveryWorld) {
  const std::string file = by_hand(folder_, free_ports());
  const std::string rate = "train.optimizer.lr=1000";
  Program zero({"peer", file, "--id", "0", "--set", rate});
  Program one({"peer", file, "--id", "1", "--set", rate});
  for (const Ended& end : {zero.wait(), one.wait(), run({"simulate", file, "--set", rate}),
                           run({"run", file, "--set", rate})}) {
    EXPECT_EQ(end.code, 1) << end.err;
    EXPECT_NE(end.err.find("the loss is not finite"), std::string::npos) << end.err;
  }
}

TEST_F(Launch, APeerOfAnotherFleetSaysSoOnBothSides) {
  const std::string file = by_hand(folder_, free_ports());
  Program one({"peer", file, "--id", "1", "--wait", "2"});
  ASSERT_TRUE(one.says("listens on"));
  const Ended zero = run({"peer", file, "--id", "0", "--set", "train.optimizer.lr=0.1"});
  EXPECT_EQ(zero.code, 5);
  EXPECT_NE(zero.err.find("another fleet"), std::string::npos) << zero.err;
  const Ended other = one.wait();
  EXPECT_EQ(other.code, 5);
  EXPECT_NE(other.err.find("another fleet"), std::string::npos) << other.err;
}

TEST_F(Launch, APeerByHandSaysThatItsPortIsTakenAndHeedsAnInterrupt) {
  const std::string file = by_hand(folder_, free_ports());
  Program first({"peer", file, "--id", "0"});
  ASSERT_TRUE(first.says("listens on"));
  const Ended second = run({"peer", file, "--id", "0"});
  EXPECT_EQ(second.code, 5);
  EXPECT_NE(second.err.find("in use"), std::string::npos) << second.err;
  first.kill(SIGINT);
  EXPECT_EQ(first.wait().code, 130);
  EXPECT_EQ(run({"peer", file, "--id", "7"}).code, 2);
}

}  // namespace
}  // namespace gv
