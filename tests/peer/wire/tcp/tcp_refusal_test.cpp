#include <thread>
#include <utility>

#include <asio.hpp>
#include <gtest/gtest.h>

#include "peer/runtime/tcp_peer.h"
#include "peer/wire/frame/frame.h"
#include "tests/peer/fleet/test_fleet.h"

namespace gv {
namespace {

/// Runs a peer until it throws, and returns the error. `others` stand in for the rest of the fleet.
std::string failure_of(TcpPeer& peer, const std::vector<PeerAddress>& addresses) {
  try {
    peer.run(addresses);
  } catch (const std::runtime_error& e) {
    return e.what();
  }
  return "";
}

/// One peer of `fleet`, with its log.
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

/// Returns the errors of peers 0 and 1 of two fleets that do not match: the dialling side's and the
/// accepting side's.
std::pair<std::string, std::string> meet(const Fleet& dialling, const Fleet& accepting) {
  const Assembly fleet0(dialling);
  const Assembly fleet1(accepting);
  LonePeer zero(fleet0, 0, std::chrono::milliseconds(600));
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
  for (const auto& [theirs, reason] :
       {std::pair{other, "another fleet"}, std::pair{larger, "another model shape"},
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

/// Sends `bytes` as a stranger to peer 1 of two, and reads until the connection is closed.
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
  EXPECT_NE(strangers_fate(std::vector<std::byte>(100)).find("not a frame of Grapevine"),
            std::string::npos);
  Hello self;
  self.peer = 1;
  EXPECT_NE(strangers_fate(wire::encode(self)).find("a fleet of 0 peers"), std::string::npos);
  const Message early{.from = 0, .kind = Kind::goodbye, .number = 0, .part = 0, .payload = {}};
  EXPECT_NE(strangers_fate(wire::encode(NumberedMessage{early, 1, 0}))
                .find("the first frame is no Hello"),
            std::string::npos);
}

}  // namespace
}  // namespace gv
