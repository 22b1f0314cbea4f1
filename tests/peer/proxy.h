#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <thread>

#include <asio.hpp>

#include "optim/rng.h"

namespace gv {

/// What a proxy does to each connection, in bytes passed since its beginning; 0: never.
struct Harm {
  std::uint32_t cut_after = 0;   ///< at most: a reset after a random number of bytes up to this
  std::uint32_t flip_after = 0;  ///< at most: one bit is flipped, likewise
};

/// Stands in front of one peer, passes bytes both ways, and does harm by a seed.
class Proxy {
 public:
  Proxy(std::uint16_t target, Harm harm, std::uint64_t seed);
  ~Proxy();
  std::uint16_t port() const { return acceptor_.local_endpoint().port(); }
  int cuts() const { return cuts_; }
  int flips() const { return flips_; }

 private:
  struct Pair;
  asio::awaitable<void> accept_loop();
  asio::awaitable<void> pass(std::shared_ptr<Pair> pair, bool forth);
  std::uint64_t draw(std::uint32_t most);

  asio::io_context io_{1};
  asio::ip::tcp::acceptor acceptor_;
  std::uint16_t target_;
  Harm harm_;
  Rng rng_;
  std::atomic<int> cuts_ = 0;
  std::atomic<int> flips_ = 0;
  std::thread thread_;
};

}  // namespace gv
