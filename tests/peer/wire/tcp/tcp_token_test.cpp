#include <atomic>
#include <chrono>
#include <thread>

#include <gtest/gtest.h>

#include "peer/wire/frame/frame.h"
#include "tests/peer/wire/tcp/besieged.h"
#include "tests/peer/wire/tcp/loopback_fleet.h"
#include "tests/peer/wire/tcp/plain_client.h"

// Plain connections within one machine, and the token of a run (wire/seal/peer_keys.h).

namespace gv {
namespace {

using Side = RunToken::Side;

std::uint64_t nanoseconds_now() {
  return static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
}

/// A peer with a token, and plain connections to it.
class TcpToken : public testing::Test {
 protected:
  void say_hello(PlainClient& client, const std::string& channel) {
    ASSERT_TRUE(client.connected());
    ASSERT_TRUE(client.say(wire::encode(peer_.hello_of(0, channel))));
  }
  /// Expects the peer to hang up without an answer, to log why, and to accept no neighbour.
  void expect_refused(PlainClient& client, const char* why) {
    EXPECT_EQ(client.heard(), 0U) << why;
    EXPECT_TRUE(peer_.says(why));
    EXPECT_FALSE(peer_.ready);
  }

  const std::uint64_t before_ = nanoseconds_now();
  std::shared_ptr<const RunToken> token_ = std::make_shared<RunToken>();
  Besieged peer_{SecurityMode::automatic, "127.0.0.1", token_};
};

/// Strangers know the whole fleet file, and the digests in run.json.
TEST_F(TcpToken, StrangersOfTheMachineAreRefused) {
  PlainClient empty(peer_.port);
  say_hello(empty, "");
  expect_refused(empty, "it is not a process of this run");
  PlainClient other_run(peer_.port);
  say_hello(other_run, RunToken().proof(Side::dials, other_run.ends(), nanoseconds_now()));
  expect_refused(other_run, "it is not a process of this run");
}

/// The stranger took a dead peer's port and recorded a proof that was sent there. It repeats the
/// proof to the successor, on another connection or (by rare chance) on one with equal ends.
TEST_F(TcpToken, WhatWasSaidToSomebodyElseIsRefused) {
  PlainClient handed_on(peer_.port);
  say_hello(handed_on, token_->proof(Side::dials, "127.0.0.1:1 127.0.0.1:2", nanoseconds_now()));
  expect_refused(handed_on, "it is not a process of this run");
  PlainClient reflected(peer_.port);
  say_hello(reflected, token_->proof(Side::is_dialled, reflected.ends(), nanoseconds_now()));
  expect_refused(reflected, "it is not a process of this run");
  PlainClient replayed(peer_.port);
  say_hello(replayed, token_->proof(Side::dials, replayed.ends(), before_));
  expect_refused(replayed, "was made for another peer");
}

TEST_F(TcpToken, AProcessOfTheRunComesIn) {
  PlainClient neighbor(peer_.port);
  say_hello(neighbor, token_->proof(Side::dials, neighbor.ends(), nanoseconds_now()));
  EXPECT_TRUE(comes_true([&] { return peer_.ready.load(); })) << peer_.log();
}

/// Payloads go over TCP and through shared memory, also if the file turns encryption off.
TEST(TcpTokens, OfARunLeaveItsBitsAsTheyAre) {
  for (const LocalTransport local : {LocalTransport::tcp, LocalTransport::shared})
    for (const SecurityMode mode : {SecurityMode::automatic, SecurityMode::plaintext}) {
      Fleet file = quadratic_fleet(4, "complete", "d-psgd", "lian");
      file.security.mode = mode;
      file.network.local = local;
      file.stop.rounds = 20;
      const Assembly fleet(file);
      LoopbackFleet real(fleet);
      const auto token = std::make_shared<RunToken>();
      for (const auto& peer : real.peers) peer->use_token(token);
      real.run();
      EXPECT_EQ(real.log, "");
      EXPECT_EQ(real.observer.params_hash(), in_virtual_time(fleet).hash);
    }
}

/// Peers of two runs of one fleet: each refuses the other and reports why.
TEST(TcpTokens, OfTwoRunsDoNotFit) {
  const Assembly fleet(quadratic_fleet(2, "complete", "d-psgd", "lian"));
  std::atomic<bool> refused = false;
  std::atomic<int> begun = 0;
  std::vector<std::unique_ptr<TcpPeer>> peers;
  std::vector<PeerAddress> addresses;
  for (PeerId i = 0; i < 2; ++i) {
    TcpPeerOptions options;
    options.on_ready = [&] { ++begun; };
    options.on_report = [](const Report&) {};
    options.log = [&](const std::string& line) {
      if (line.find("it is not a process of this run") != std::string::npos) refused = true;
    };
    peers.push_back(std::make_unique<TcpPeer>(fleet, i, std::move(options)));
    peers.back()->use_token(std::make_shared<RunToken>());
    addresses.push_back({i, "127.0.0.1", peers.back()->listen()});
  }
  std::vector<std::thread> threads;
  for (const auto& peer : peers) threads.emplace_back([&] { peer->run(addresses); });
  EXPECT_TRUE(comes_true([&] { return refused.load(); }));
  for (const auto& peer : peers) peer->stop();
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(begun, 0);
}

}  // namespace
}  // namespace gv
