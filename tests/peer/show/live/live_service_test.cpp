#include "peer/show/live/live_service.h"

#include <filesystem>
#include <stdexcept>
#include <thread>

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>

#include "peer/show/live/live_address.h"
#include "peer/show/live/live_client.h"
#include "tests/peer/show/live/client.h"
#include "tests/peer/show/live/views.h"
#include "tests/scratch_folder.h"

namespace gv {
namespace {

namespace fs = std::filesystem;

class Live : public testing::Test {
 protected:
  static FleetState state(FleetState::Phase phase, Round round) {
    return {.phase = phase,
            .seconds = 2,
            .round = round,
            .rounds = 100,
            .peers = {{.id = 0, .stage = PeerState::Stage::training, .round = round}}};
  }
  static std::string body(const std::string& reply) {
    return reply.substr(reply.find("\r\n\r\n") + 4);
  }
  static std::uint16_t port_of(const std::string& url) {
    return static_cast<std::uint16_t>(std::stoi(url.substr(url.find("0.1:") + 4)));
  }
  std::string get(const LiveService& live, const std::string& path) const {
    const std::uint16_t port = port_of(live.url());
    return gv::get(port, path, "127.0.0.1:" + std::to_string(port));
  }

  ScratchFolder scratch_;
  RunFolder folder_ = RunFolder::make(scratch_.path() + "/run");
  RunTitle title_{.name = "test", .folder = folder_.path(), .method = "d-psgd", .graph = "ring"};
};

TEST_F(Live, ShowsTheNewestStateOnItsSocketAndTakesOrdersThere) {
  {
    LiveService live(title_, folder_, {});
    EXPECT_TRUE(live.url().empty());
    EXPECT_TRUE(live.note().empty()) << live.note();
    live.feed().put(state(FleetState::Phase::training, 7));
    live.feed().put(a_record(5, 0.5));
    live.feed().put(state(FleetState::Phase::training, 8));
    const auto view = view_of_run(folder_.path());
    ASSERT_TRUE(view);
    EXPECT_EQ(view->round, 8U);
    EXPECT_EQ(view->title.name, "test");
    ASSERT_TRUE(view->latest);
    EXPECT_EQ(view->latest->loss, 0.5);
    EXPECT_EQ(order_run(folder_.path(), "/checkpoint"), 1U);
    EXPECT_EQ(order_run(folder_.path(), "/stop"), 2U);
    const auto orders = live.orders().take();
    ASSERT_EQ(orders.size(), 2U);
    EXPECT_EQ(orders[0].kind, Order::Kind::checkpoint);
    EXPECT_EQ(orders[1].kind, Order::Kind::stop);
    EXPECT_EQ(order_run(folder_.path(), "/record?rounds=200"), 3U);
    EXPECT_EQ(live.orders().take().at(0).rounds, 200U);
    for (const char* wrong : {"", "?rounds=", "?rounds=0", "?rounds=-1", "?rounds=100001"})
      EXPECT_EQ(ask_run(folder_.path(), "POST", std::string("/record") + wrong)->status, 400);
    EXPECT_EQ(ask_run(folder_.path(), "GET", "/stop")->status, 404);
    EXPECT_EQ(ask_run(folder_.path(), "POST", "/state.json")->status, 405);
    EXPECT_THROW(LiveService(title_, folder_, {}), std::runtime_error) << "two runs in one folder";
  }
  EXPECT_FALSE(fs::exists(folder_.path() + "/live.sock"));
  EXPECT_FALSE(view_of_run(folder_.path()));
}

/// A run may end while a request waits in its socket. This is the normal end of the run.
TEST_F(Live, WhoeverAsksARunThatEndsAtThatMomentIsToldThatItIsOver) {
  const Descriptor listening = listen_live(folder_.path());
  const auto wait_for = [](const Descriptor& socket) {
    pollfd readable{.fd = socket.get(), .events = POLLIN, .revents = 0};
    EXPECT_EQ(::poll(&readable, 1, -1), 1);
  };
  const std::jthread run([&] {
    wait_for(listening);  // which does not block
    wait_for(Descriptor(::accept(listening.get(), nullptr, nullptr)));
  });
  EXPECT_FALSE(view_of_run(folder_.path()));
}

TEST_F(Live, OrdersThatNobodyTakesAreNotPiledUp) {
  LiveService live(title_, folder_, {});
  int taken = 0;
  for (int k = 0; k < 200; ++k)
    taken += ask_run(folder_.path(), "POST", "/stop")->status == 202 ? 1 : 0;
  EXPECT_EQ(taken, 64);
}

TEST_F(Live, ThePageCanOnlyBeLookedAt) {
  LiveService live(title_, folder_, {.serve = "127.0.0.1:0", .no_token = true});
  live.feed().put(state(FleetState::Phase::training, 7));
  EXPECT_TRUE(get(live, "/").starts_with("HTTP/1.1 200 "));
  EXPECT_NE(get(live, "/").find("Content-Security-Policy: default-src 'none';"), std::string::npos);
  EXPECT_NE(body(get(live, "/metrics")).find("\ngrapevine_round 7\n"), std::string::npos);
  EXPECT_EQ(body(get(live, "/healthz")), "ok\n");
  EXPECT_TRUE(get(live, "/nothing").starts_with("HTTP/1.1 404 "));
  const std::uint16_t port = port_of(live.url());
  const Client client(port);
  client.send("POST /stop HTTP/1.1\r\nHost: 127.0.0.1:" + std::to_string(port) + "\r\n\r\n");
  EXPECT_TRUE(client.all().starts_with("HTTP/1.1 405 "));
  EXPECT_TRUE(live.orders().take().empty());
}

TEST_F(Live, TheAddressHasAToken) {
  LiveService live(title_, folder_, {.serve = "127.0.0.1:0"});
  const std::size_t token = live.url().find("/?token=");
  ASSERT_NE(token, std::string::npos);
  EXPECT_TRUE(get(live, "/").starts_with("HTTP/1.1 403 "));
  EXPECT_TRUE(get(live, live.url().substr(token)).starts_with("HTTP/1.1 200 "));
}

/// The last event reports the end of the run, at each address.
TEST_F(Live, EventsEndWithTheRun) {
  LiveService live(title_, folder_, {.serve = "127.0.0.1:0", .no_token = true});
  live.feed().put(state(FleetState::Phase::training, 7));
  const std::uint16_t port = port_of(live.url());
  for (const char* path : {"/events", "/events?json"}) {
    live.feed().put(state(FleetState::Phase::training, 7));
    const Client client(port);
    client.send(std::string("GET ") + path +
                " HTTP/1.1\r\nHost: localhost:" + std::to_string(port) + "\r\n\r\n");
    std::string text = client.some();
    while (text.find("event: ") == std::string::npos) text += client.some();
    live.feed().put(state(FleetState::Phase::ended, 100));
    text += client.all();
    EXPECT_NE(text.find("100"), std::string::npos);
    EXPECT_TRUE(text.ends_with("event: end\ndata: ended\n\n")) << text;
  }
}

}  // namespace
}  // namespace gv
