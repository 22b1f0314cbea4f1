#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "peer/runtime/tcp_peer.h"
#include "tests/peer/fleet/test_fleet.h"
#include "tests/peer/launch/program.h"
#include "tests/peer/wire/tcp/tls_client.h"

namespace gv {

inline Fleet secured_fleet(PeerId n) {
  Fleet fleet = quadratic_fleet(n, "complete", "d-psgd", "lian");
  fleet.security.mode = SecurityMode::tls;
  fleet.network.local = LocalTransport::tcp;
  return fleet;
}

/// Peer 1 of two, which waits for peer 0 while strangers connect to it.
class Besieged {
 public:
  explicit Besieged(SecurityMode mode = SecurityMode::tls,
                    const std::string& zero = "127.0.0.1",
                    std::shared_ptr<const RunToken> token = nullptr)
      : fleet_(fleet_of(mode)) {
    TcpPeerOptions options;
    options.on_report = [](const Report&) {};
    options.log = [this](const std::string& line) {
      const std::lock_guard lock(mutex_);
      log_ += line + "\n";
    };
    options.keys = std::make_shared<TlsContext>(keys[1]);
    options.on_ready = [this] { ready = true; };
    peer_ = std::make_unique<TcpPeer>(fleet_, 1, std::move(options));
    if (token) peer_->use_token(std::move(token));
    port = peer_->listen();
    const std::vector<PeerAddress> addresses{{0, zero, 1}, {1, "127.0.0.1", port}};
    thread_ = std::thread([this, addresses] { peer_->run(addresses); });
  }
  ~Besieged() {
    peer_->stop();
    thread_.join();
  }
  std::string log() {
    const std::lock_guard lock(mutex_);
    return log_;
  }
  testing::AssertionResult says(const std::string& text) {
    if (comes_true([&] { return log().find(text) != std::string::npos; }))
      return testing::AssertionSuccess();
    return testing::AssertionFailure() << "not said: " << text << "; but\n" << log();
  }
  Hello hello_of(PeerId id, const std::string& channel) const {
    return {.fleet = fleet_.fleet.digest,
            .model = fleet_.model_digest,
            .peer = id,
            .incarnation = 9,
            .peers = 2,
            .channel = channel};
  }

  const std::vector<PeerKeys> keys = make_keys(2);
  std::uint16_t port = 0;
  std::atomic<bool> ready = false;

 private:
  static Fleet fleet_of(SecurityMode mode) {
    Fleet fleet = secured_fleet(2);
    fleet.security.mode = mode;
    return fleet;
  }
  Assembly fleet_;
  std::mutex mutex_;
  std::string log_;
  std::unique_ptr<TcpPeer> peer_;
  std::thread thread_;
};

}  // namespace gv
