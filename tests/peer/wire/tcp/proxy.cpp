#include "tests/peer/wire/tcp/proxy.h"

#include <array>
#include <utility>

#include "peer/wire/tcp/connecting.h"

namespace gv {

using asio::ip::tcp;

struct Proxy::Pair {
  tcp::socket near, far;
  std::uint64_t passed = 0;
  std::uint64_t cut_at = 0;
  std::uint64_t flip_at = 0;
  std::uint64_t stall_at = 0;
  std::uint64_t hole_at = 0;

  /// Returns whether the position `at` was passed since `before` bytes.
  bool passes(std::uint64_t at, std::uint64_t before) const { return at > before && at <= passed; }
  void reset() {
    asio::error_code ignored;
    for (tcp::socket* socket : {&near, &far}) {
      socket->set_option(asio::socket_base::linger(true, 0), ignored);
      socket->close(ignored);
    }
  }
};

Proxy::Proxy(std::uint16_t target, Harm harm, std::uint64_t seed)
    : acceptor_(io_, {asio::ip::make_address("127.0.0.1"), 0}),
      target_(target),
      harm_(harm),
      rng_(seed) {
  asio::co_spawn(io_, accept_loop(), asio::detached);
  thread_ = std::thread([this] { io_.run(); });
}

Proxy::~Proxy() {
  io_.stop();
  thread_.join();
}

std::uint64_t Proxy::draw(std::uint32_t most) {
  return most == 0 ? 0 : 1 + rng_.below(most);
}

asio::awaitable<void> Proxy::accept_loop() {
  for (;;) {
    auto [error, near] = co_await acceptor_.async_accept(as_result);
    if (error) co_return;
    tcp::socket far(io_);
    const tcp::endpoint to(asio::ip::make_address("127.0.0.1"), target_);
    const auto [failed] = co_await far.async_connect(to, as_result);
    if (failed) continue;
    near.set_option(tcp::no_delay(true));
    far.set_option(tcp::no_delay(true));
    auto pair = std::make_shared<Pair>(Pair{std::move(near), std::move(far), 0,
                                            draw(harm_.cut_after), draw(harm_.flip_after),
                                            draw(harm_.stall_after), draw(harm_.hole_after)});
    pairs_.push_back(pair);
    asio::co_spawn(io_, pass(pair, true), asio::detached);
    asio::co_spawn(io_, pass(pair, false), asio::detached);
  }
}

asio::awaitable<void> Proxy::pause(std::chrono::milliseconds length) {
  asio::steady_timer timer(io_, length);
  co_await timer.async_wait(as_result);
}

void Proxy::with_each(std::function<void(Pair&)> f) {
  asio::post(io_, [this, f = std::move(f)] {
    std::erase_if(pairs_, [](const auto& each) { return each.expired(); });
    for (const auto& each : pairs_)
      if (const auto pair = each.lock()) f(*pair);
  });
}

void Proxy::reset_all() {
  with_each([](Pair& pair) { pair.reset(); });
}

void Proxy::swallow_all() {
  with_each([](Pair& pair) { pair.hole_at = 1; });
}

bool Proxy::swallows(const Pair& pair, bool forth) const {
  return pair.hole_at != 0 && pair.passed >= pair.hole_at && (forth || !harm_.hole_one_way);
}

asio::awaitable<void> Proxy::pass(std::shared_ptr<Pair> pair, bool forth) {
  tcp::socket& from = forth ? pair->near : pair->far;
  tcp::socket& to = forth ? pair->far : pair->near;
  std::array<char, 16384> bytes;
  for (;;) {
    const auto [error, count] = co_await from.async_read_some(
        asio::buffer(bytes, std::min(bytes.size(), harm_.slice)), as_result);
    if (error) {
      if (swallows(*pair, forth)) co_return;  // the other end does not learn of the end either
      asio::error_code ignored;
      if (error == asio::error::eof) to.shutdown(tcp::socket::shutdown_send, ignored);
      if (error != asio::error::eof) pair->reset();
      co_return;
    }
    const std::uint64_t before = std::exchange(pair->passed, pair->passed + count);
    if (harm_.latency.count() > 0) co_await pause(harm_.latency);
    if (pair->passes(pair->stall_at, before)) {
      ++stalls_;
      co_await pause(harm_.stall);
    }
    if (pair->passes(pair->hole_at, before)) ++holes_;
    if (swallows(*pair, forth)) continue;
    if (pair->passes(pair->flip_at, before)) {
      bytes[pair->flip_at - before - 1] ^= static_cast<char>(1 << rng_.below(8));
      ++flips_;
    }
    std::size_t passing = count;
    const bool cut = pair->passes(pair->cut_at, before);
    if (cut) passing = pair->cut_at - before;
    const auto [failed, written] =
        co_await asio::async_write(to, asio::buffer(bytes.data(), passing), as_result);
    if (cut) ++cuts_;
    if (cut || failed) {
      pair->reset();
      co_return;
    }
  }
}

}  // namespace gv
