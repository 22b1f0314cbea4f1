#include "peer/tcp/tcp_handshake.h"

#include <string_view>
#include <utility>

#include <asio/steady_timer.hpp>
#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

namespace gv {
namespace {

/// Closes the socket when its time is up. The frames must outlive it or keep their place.
class Deadline {
 public:
  Deadline(TcpFrames& frames, Time time) : timer_(frames.socket.get_executor(), time) {
    timer_.async_wait([&frames, live = live_](const asio::error_code& error) {
      asio::error_code ignored;
      if (!error && *live) frames.socket.close(ignored);
    });
  }
  ~Deadline() { *live_ = false; }
  Deadline(const Deadline&) = delete;
  Deadline& operator=(const Deadline&) = delete;

 private:
  std::shared_ptr<bool> live_ = std::make_shared<bool>(true);
  asio::steady_timer timer_;
};

std::string short_digest(const std::string& digest) {
  return digest.substr(0, 12);
}

}  // namespace

std::string disagreement(const wire::Hello& ours, const wire::Hello& theirs) {
  if (theirs.peers != ours.peers)
    return fmt::format("a fleet of {} peers, ours has {}", theirs.peers, ours.peers);
  if (theirs.model != ours.model)
    return fmt::format(
        "another model shape ({}, ours {})", short_digest(theirs.model), short_digest(ours.model));
  if (theirs.fleet != ours.fleet)
    return fmt::format(
        "another fleet ({}, ours {}): both need the same fleet file, --set values, and graph and "
        "weight files",
        short_digest(theirs.fleet),
        short_digest(ours.fleet));
  return "";
}

asio::awaitable<Handshake> dial_handshake(asio::ip::tcp::socket socket,
                                          wire::Hello ours,
                                          PeerId expected,
                                          Time deadline,
                                          std::shared_ptr<BufferPool> pool) {
  auto frames = std::make_unique<TcpFrames>(std::move(socket));
  const Deadline alarm(*frames, deadline);
  Handshake failed;
  const std::vector<std::byte> hello = wire::encode(ours);
  if (const std::string error = co_await frames->write(hello); !error.empty()) co_return failed;
  const Incoming in = co_await frames->read(0, *pool);
  const bool answered = in.header.kind == wire::FrameKind::hello;
  const bool refused = in.header.kind == wire::FrameKind::refusal;
  if (in.ended() || !(answered || refused)) co_return failed;
  Handshake result{std::move(frames), in.header.hello, {}};
  if (refused) {
    result.refusal = in.header.refusal.reason;
    co_return result;
  }
  result.refusal = disagreement(ours, in.header.hello);
  if (result.refusal.empty() && in.header.hello.peer != expected)
    result.refusal = fmt::format("peer {} answers at that address", in.header.hello.peer);
  co_return result;
}

asio::awaitable<Handshake> accept_handshake(
    asio::ip::tcp::socket socket,
    std::function<std::string(const wire::Hello& theirs, wire::Hello& ours)> answer,
    Time deadline,
    std::shared_ptr<BufferPool> pool) {
  auto frames = std::make_unique<TcpFrames>(std::move(socket));
  const Deadline alarm(*frames, deadline);
  const Incoming in = co_await frames->read(0, *pool);
  // A damaged Hello gets no answer: its sender shall try again.
  if (in.ended() && !frames->socket.is_open()) co_return Handshake{nullptr, {}, "no Hello in time"};
  if (in.ended()) co_return Handshake{nullptr, {}, in.error};
  Handshake result{std::move(frames), in.header.hello, {}};
  wire::Hello ours;
  if (in.header.kind != wire::FrameKind::hello) result.refusal = "the first frame is no Hello";
  if (result.refusal.empty()) result.refusal = answer(result.theirs, ours);
  if (!result.refusal.empty()) co_return result;
  const std::vector<std::byte> hello = wire::encode(ours);
  if (const std::string error = co_await result.frames->write(hello); !error.empty())
    result.frames.reset();
  co_return result;
}

asio::awaitable<void> refuse(Handshake refused, Time deadline, std::shared_ptr<BufferPool> pool) {
  TcpFrames& frames = *refused.frames;
  const Deadline alarm(frames, deadline);
  const std::vector<std::byte> bytes = wire::encode(wire::Refusal{refused.refusal});
  co_await frames.write(bytes);
  asio::error_code ignored;
  frames.socket.shutdown(asio::ip::tcp::socket::shutdown_send, ignored);
  co_await frames.read(0, *pool);
}

void tune(asio::ip::tcp::socket& socket) {
  asio::error_code ignored;
  socket.set_option(asio::ip::tcp::no_delay(true), ignored);
  const auto remote = socket.remote_endpoint(ignored);
  if (ignored || !remote.address().is_loopback()) return;
  constexpr std::string_view reno = "reno";
  ::setsockopt(socket.native_handle(), IPPROTO_TCP, TCP_CONGESTION, reno.data(), reno.size());
}

}  // namespace gv
