#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include <asio.hpp>

#include "optim/rng.h"

namespace gv {

/// The harm that a proxy does to each connection, in bytes since its beginning. 0 means never.
struct Harm {
  std::uint32_t cut_after = 0;    ///< maximum: resets after a random number of bytes up to this
  std::uint32_t flip_after = 0;   ///< maximum: flips one bit, likewise
  std::uint32_t stall_after = 0;  ///< maximum: stops reading for `stall`, likewise
  /// After a random number of bytes up to this, everything is swallowed without an error.
  std::uint32_t hole_after = 0;
  bool hole_one_way = false;  ///< only toward the target
  std::chrono::milliseconds stall{300};
  std::chrono::milliseconds latency{0};  ///< delay of every chunk
  std::size_t slice = 16384;             ///< maximum bytes of a chunk
};

/// Stands in front of one peer, passes bytes both ways, and does harm according to a seed.
class Proxy {
 public:
  Proxy(std::uint16_t target, Harm harm, std::uint64_t seed);
  ~Proxy();
  /// Resets every present connection.
  void reset_all();
  /// Swallows everything on every present connection, in both directions, without an error.
  void swallow_all();
  std::uint16_t port() const { return acceptor_.local_endpoint().port(); }
  int cuts() const { return cuts_; }
  int flips() const { return flips_; }
  int stalls() const { return stalls_; }
  int holes() const { return holes_; }

 private:
  struct Pair;
  asio::awaitable<void> accept_loop();
  void with_each(std::function<void(Pair&)> f);
  bool swallows(const Pair& pair, bool forth) const;
  asio::awaitable<void> pause(std::chrono::milliseconds length);
  asio::awaitable<void> pass(std::shared_ptr<Pair> pair, bool forth);
  std::uint64_t draw(std::uint32_t most);

  asio::io_context io_{1};
  asio::ip::tcp::acceptor acceptor_;
  std::uint16_t target_;
  Harm harm_;
  Rng rng_;
  std::vector<std::weak_ptr<Pair>> pairs_;
  std::atomic<int> cuts_ = 0;
  std::atomic<int> flips_ = 0;
  std::atomic<int> stalls_ = 0;
  std::atomic<int> holes_ = 0;
  std::thread thread_;
};

}  // namespace gv
