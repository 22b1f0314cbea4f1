#include <atomic>
#include <thread>

#include <gtest/gtest.h>

#include "optim/rng.h"
#include "peer/wire/frame/frame.h"
#include "tests/peer/wire/tcp/besieged.h"
#include "tests/peer/wire/tcp/loopback_fleet.h"
#include "tests/peer/wire/tcp/tls_client.h"

namespace gv {
namespace {

TEST(TcpSecurity, AnEncryptedFleetEndsWithTheSameBits) {
  Fleet file = secured_fleet(4);
  file.data.quadratic.dimension = 100'000;  // many records, and pieces of several
  file.data.quadratic.spread = 1;
  file.stop.rounds = 20;
  for (const bool emulated : {false, true}) {
    if (emulated)
      file.network = {.latency = std::chrono::microseconds(300),
                      .bandwidth = 400e6,
                      .emulate = true,
                      .local = LocalTransport::tcp};
    const Assembly fleet(file);
    LoopbackFleet real(fleet);
    real.run();
    EXPECT_EQ(real.log, "");
    EXPECT_EQ(real.observer.params_hash(), in_virtual_time(fleet).hash) << emulated;
  }
}

/// Without keys the peer does not start, and the error has a remedy.
TEST(TcpSecurity, NothingGoesToAnotherMachineWithoutKeys) {
  Fleet file = quadratic_fleet(2, "complete", "d-psgd", "lian");
  const auto said = [&file] {
    const Assembly fleet(file);
    TcpPeerOptions options;
    options.log = [](const std::string&) {};
    TcpPeer peer(fleet, 0, std::move(options));
    const std::uint16_t port = peer.listen();
    try {
      peer.run({{0, "127.0.0.1", port}, {1, "192.0.2.1", 27000}});
    } catch (const std::runtime_error& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  EXPECT_NE(said().find("no keys to prove to peer 1 who it is, which lives on another machine"),
            std::string::npos);
  EXPECT_NE(said().find("grapevine keygen FILE"), std::string::npos);
  file.security.mode = SecurityMode::tls;
  EXPECT_NE(said().find("no keys to prove to peer 1"), std::string::npos);
}

TEST(TcpSecurity, WhoCannotProveToBeANeighbourIsRefusedUnheard) {
  Besieged peer;
  const std::vector<PeerKeys> others = make_keys(2);
  const std::vector<std::byte> hello = wire::encode(peer.hello_of(0, ""));
  struct Case {
    const PeerKeys* keys;
    int version;
    const char* reason;
  };
  for (const Case& c : {Case{nullptr, TLS1_3_VERSION, "it showed no certificate"},
                        Case{&others[0], TLS1_3_VERSION, "its certificate is of other keys"},
                        Case{&peer.keys[1], TLS1_3_VERSION, "peer 1 does not dial peer 1"},
                        Case{&peer.keys[0], TLS1_2_VERSION, "it speaks no TLS 1.3"}}) {
    TlsClient stranger(peer.port, c.keys, c.version);
    stranger.shake();
    stranger.say(hello);
    EXPECT_EQ(stranger.heard(), 0U) << c.reason;
    EXPECT_TRUE(peer.says(c.reason));
  }
  EXPECT_FALSE(peer.ready);
}

TEST(TcpSecurity, PlainFramesAndGarbageAreNotLookedAt) {
  Besieged peer;
  Rng rng(3);
  std::vector<std::byte> garbage(3000);
  for (std::byte& b : garbage) b = static_cast<std::byte>(rng.below(256));
  garbage[0] = std::byte{0};
  for (const std::vector<std::byte>& bytes : {wire::encode(peer.hello_of(0, "")), garbage}) {
    TlsClient stranger(peer.port, nullptr);
    stranger.say_plainly(bytes);
    stranger.heard();
  }
  EXPECT_TRUE(peer.says("does not speak TLS"));
  EXPECT_EQ(peer.log().find("Hello"), std::string::npos) << peer.log();
}

/// The keys are right, but the Hello is that of another peer or of another connection.
TEST(TcpSecurity, AHelloMustBeOfItsConnectionAndOfItsCertificate) {
  Besieged peer;
  TlsClient captured(peer.port, &peer.keys[0]);
  ASSERT_TRUE(captured.shake());
  {
    TlsClient replaying(peer.port, &peer.keys[0]);
    ASSERT_TRUE(replaying.shake());
    replaying.say(wire::encode(peer.hello_of(0, captured.channel())));
    EXPECT_EQ(replaying.heard(), 0U);
    EXPECT_TRUE(peer.says("its Hello is one of another connection"));
  }
  {
    TlsClient lying(peer.port, &peer.keys[0]);
    ASSERT_TRUE(lying.shake());
    lying.say(wire::encode(peer.hello_of(1, lying.channel())));
    EXPECT_EQ(lying.heard(), 0U);
    EXPECT_TRUE(peer.says("its certificate is that of peer 0, and it claims to be peer 1"));
  }
  EXPECT_FALSE(peer.ready);
  captured.say(wire::encode(peer.hello_of(0, captured.channel())));
  EXPECT_TRUE(comes_true([&] { return peer.ready.load(); })) << peer.log();
}

TEST(TcpSecurity, WhoSaysNothingIsHungUpOn) {
  Besieged peer;
  TlsClient silent(peer.port, &peer.keys[0]);
  EXPECT_EQ(silent.heard(), 0U);
  EXPECT_TRUE(peer.says("no Hello in time"));
}

/// A member that had said farewell once sent unread records without end. Each byte counted as a
/// sign of life, so its link never ended.
TEST(TcpSecurity, AFarewellEndsTheLinkAndIsAnswered) {
  Besieged peer;
  TlsClient member(peer.port, &peer.keys[0]);
  ASSERT_TRUE(member.shake());
  member.say(wire::encode(peer.hello_of(0, member.channel())));
  ASSERT_TRUE(comes_true([&] { return peer.ready.load(); })) << peer.log();
  member.say_farewell();
  const std::vector<std::byte> record{
      std::byte{23}, std::byte{3}, std::byte{3}, std::byte{0}, std::byte{2}, {}, {}};
  EXPECT_TRUE(comes_true([&] {
    member.say_plainly(record);
    return peer.log().find("connection to peer 0 lost: it closed the connection") !=
           std::string::npos;
  })) << peer.log();
  member.heard();
  EXPECT_TRUE(member.heard_farewell());
}

/// A stranger may use a program of our machine, such as a tunnel. Its plain frames come from this
/// machine, with the name of a neighbour that lives elsewhere.
TEST(TcpSecurity, ANeighbourFromElsewhereCannotComePlainly) {
  Besieged peer(SecurityMode::automatic, "192.0.2.1");
  TlsClient tunnel(peer.port, nullptr);
  tunnel.say_plainly(wire::encode(peer.hello_of(0, "")));
  EXPECT_EQ(tunnel.heard(), 0U);
  EXPECT_TRUE(peer.says("peer 0 must come through TLS"));
  EXPECT_FALSE(peer.ready);
  // The real neighbour can connect from anywhere if it proves its identity.
  TlsClient itself(peer.port, &peer.keys[0]);
  ASSERT_TRUE(itself.shake());
  itself.say(wire::encode(peer.hello_of(0, itself.channel())));
  EXPECT_TRUE(comes_true([&] { return peer.ready.load(); })) << peer.log();
}

TEST(TcpSecurity, ANeighbourOfThisMachineMayComePlainly) {
  Besieged peer(SecurityMode::automatic);
  {
    TlsClient lying(peer.port, nullptr);
    lying.say_plainly(wire::encode(peer.hello_of(0, std::string(32, 'x'))));
    lying.heard();
    EXPECT_TRUE(peer.says("its Hello is one of another connection"));
  }
  TlsClient neighbor(peer.port, nullptr);
  neighbor.say_plainly(wire::encode(peer.hello_of(0, "")));
  EXPECT_TRUE(comes_true([&] { return peer.ready.load(); })) << peer.log();
}

/// Both ends report that their keys do not belong together, and neither waits long.
TEST(TcpSecurity, PeersWithOtherKeysSayWhatToMend) {
  const Assembly fleet(secured_fleet(2));
  std::vector<std::string> said(2);
  std::vector<std::unique_ptr<TcpPeer>> peers;
  std::vector<PeerAddress> addresses;
  for (PeerId i = 0; i < 2; ++i) {
    TcpPeerOptions options;
    options.connect_deadline = std::chrono::seconds(3);
    options.on_report = [](const Report&) {};
    options.log = [&said, i](const std::string& line) { said[i] += line + "\n"; };
    options.keys = std::make_shared<TlsContext>(make_keys(2)[i]);
    peers.push_back(std::make_unique<TcpPeer>(fleet, i, std::move(options)));
    addresses.push_back({i, "127.0.0.1", peers.back()->listen()});
  }
  std::vector<std::thread> threads;
  for (PeerId i = 0; i < 2; ++i)
    threads.emplace_back([&, i] {
      try {
        peers[i]->run(addresses);
      } catch (const std::runtime_error& e) {
        said[i] += e.what();
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_NE(said[0].find("do not fit: its certificate is of other keys"), std::string::npos)
      << said[0];
  EXPECT_NE(said[1].find("it refuses our certificate"), std::string::npos) << said[1];
}

/// Strangers of all kinds connect while a fleet trains. No bit changes.
TEST(TcpSecurity, StrangersOfEveryKindChangeNoBit) {
  Fleet file = secured_fleet(4);
  file.data.quadratic.dimension = 5000;
  file.data.quadratic.spread = 1;
  file.stop.rounds = 400;
  const Assembly fleet(file);
  LoopbackFleet real(fleet);
  const std::vector<PeerKeys> others = make_keys(4);
  std::atomic<bool> over = false;
  std::atomic<int> came = 0;
  std::thread strangers([&] {
    Rng rng(5);
    std::vector<std::unique_ptr<TlsClient>> idle;
    for (; !over; ++came) {
      const std::uint16_t port = real.addresses[rng.below(4)].port;
      const PeerKeys* keys = rng.below(2) == 0 ? nullptr : &others[rng.below(4)];
      auto stranger = std::make_unique<TlsClient>(port, keys);
      std::vector<std::byte> bytes(1 + rng.below(2000), static_cast<std::byte>(rng.below(256)));
      switch (rng.below(4)) {
        case 0:
          stranger->say_plainly(bytes);
          break;
        case 1:
          bytes[0] = std::byte{0x16};
          stranger->say_plainly(bytes);
          break;
        case 2:
          if (stranger->shake()) stranger->say(bytes);
          break;
        default:
          idle.push_back(std::move(stranger));
          if (idle.size() > 50) idle.erase(idle.begin());
      }
    }
  });
  real.run();
  over = true;
  strangers.join();
  EXPECT_GT(came, 0);
  EXPECT_EQ(real.observer.params_hash(), in_virtual_time(fleet).hash);
}

}  // namespace
}  // namespace gv
