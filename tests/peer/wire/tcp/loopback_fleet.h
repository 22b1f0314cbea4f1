#pragma once

#include <algorithm>
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "peer/record/observer.h"
#include "peer/runtime/tcp_peer.h"
#include "peer/sim/simulation.h"

// One fleet over TCP and in virtual time.

namespace gv {

/// All peers of a fleet over loopback TCP, each with its own loop thread in this process.
class LoopbackFleet {
 public:
  /// `parts` returns the parts of each peer, if not the real ones.
  explicit LoopbackFleet(const Assembly& fleet, const std::function<PeerParts(PeerId)>& parts = {})
      : observer(fleet.fleet.size(), fleet.evaluator(), [this](const FleetRecord& record) {
          records.push_back(record);
        }) {
    const PeerId n = fleet.fleet.size();
    std::vector<PeerKeys> keys;
    if (fleet.fleet.security.mode == SecurityMode::tls) keys = make_keys(n);
    for (PeerId i = 0; i < n; ++i) {
      TcpPeerOptions options;
      options.on_report = [this](Report report) {
        // A peer's buffers return to its own pool, on its own loop.
        const auto copy = std::make_shared<Buffer>(report.model->size());
        std::ranges::copy(report.model->floats(), copy->floats().begin());
        report.model = copy;
        const std::lock_guard lock(mutex_);
        observer.take(std::move(report), std::chrono::steady_clock::now() - began_);
      };
      options.log = [this](const std::string& line) {
        const std::lock_guard lock(mutex_);
        log += line + "\n";
      };
      if (parts) options.parts = parts(i);
      if (!keys.empty()) options.keys = std::make_shared<TlsContext>(keys[i]);
      peers.push_back(std::make_unique<TcpPeer>(fleet, i, std::move(options)));
      addresses.push_back({i, "127.0.0.1", peers.back()->listen()});
    }
  }

  void run() {
    std::vector<std::thread> threads;
    for (const auto& peer : peers) threads.emplace_back([&] { peer->run(addresses); });
    for (std::thread& thread : threads) thread.join();
  }

  std::vector<FleetRecord> records;  ///< times count from this object's construction
  Observer observer;
  std::vector<std::unique_ptr<TcpPeer>> peers;
  std::vector<PeerAddress> addresses;
  std::string log;

 private:
  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
  std::mutex mutex_;
};

struct Outcome {
  std::string hash;
  std::uint64_t sent_bytes;
};

inline Outcome in_virtual_time(const Assembly& assembly) {
  Observer observer(assembly.fleet.size(), assembly.evaluator(), {});
  simulate(assembly, observer, {});
  return {observer.params_hash(), observer.summary()->costs.sent_bytes};
}

}  // namespace gv
