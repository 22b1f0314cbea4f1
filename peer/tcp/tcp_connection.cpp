#include "peer/tcp/tcp_connection.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include <asio/co_spawn.hpp>
#include <asio/detached.hpp>
#include <asio/error.hpp>
#include <asio/steady_timer.hpp>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include "peer/tcp/as_result.h"

namespace gv {
namespace {

/// Largest piece given to or asked of a socket at once. Asio's composed operations stop at 64 KiB.
constexpr std::size_t socket_piece = 512 * 1024;

constexpr std::array<std::byte, wire::frame_unit> zeros{};

/// Where a read of at most `socket_piece` puts what comes; what follows a payload comes with it.
std::array<asio::mutable_buffer, 2> buffers_of(const wire::FrameReader::Space& space) {
  const std::size_t first = std::min(space.first.size(), socket_piece);
  const std::size_t then = first == space.first.size() ? space.then.size() : 0;
  return {asio::buffer(space.first.data(), first), asio::buffer(space.then.data(), then)};
}

}  // namespace

TcpConnection::TcpConnection(asio::ip::tcp::socket socket, BufferPool& pool, Events events)
    : socket_(std::move(socket)), reader_(pool), events_(std::move(events)) {
  asio::error_code ignored;
  socket_.set_option(asio::ip::tcp::no_delay(true), ignored);
}

void TcpConnection::start() {
  asio::co_spawn(socket_.get_executor(), read_loop(shared_from_this()), asio::detached);
}

void TcpConnection::send(Outgoing frame) {
  if (closed_ || finishing_) return;
  queue_.push_back(std::move(frame));
  if (std::exchange(writing_, true)) return;
  asio::co_spawn(socket_.get_executor(), write_loop(shared_from_this()), asio::detached);
}

void TcpConnection::finish() {
  finishing_ = true;
  if (!writing_) writing_ended();
}

asio::awaitable<void> TcpConnection::read_loop(Self self) {
  for (;;) {
    const auto [error, count] =
        co_await self->socket_.async_read_some(buffers_of(self->reader_.space()), as_result);
    if (self->closed_) co_return;
    if (error == asio::error::eof)
      co_return self->end(self->reader_.between_frames() ? "it closed the connection"
                                                         : "the stream ends inside a frame");
    if (error) co_return self->end(error.message());
    self->reader_.filled(count);
    self->events_.on_bytes(count);
    if (const std::string wrong = self->take_frames(); !wrong.empty()) {
      self->events_.on_no_frame();
      co_return self->end(wrong);
    }
    if (self->closed_) co_return;
  }
}

std::string TcpConnection::take_frames() {
  for (std::optional<Frame> frame; !closed_;) {
    std::string wrong = reader_.next(frame);
    if (!wrong.empty() || !frame) return wrong;
    events_.on_frame(std::move(*frame));
  }
  return "";
}

/// A frame with a time of its own travels ahead of it but for its last byte, which the neighbour
/// gets when the frame is due: the copy through the kernel, and what it costs, is over by then.
asio::awaitable<void> TcpConnection::write_loop(Self self) {
  asio::steady_timer timer(self->socket_.get_executor());
  while (!self->queue_.empty() && !self->closed_) {
    const Outgoing& frame = self->queue_.front();
    std::size_t most = socket_piece;
    if (frame.due) {
      const std::size_t left = frame.size() - self->front_written_;
      most = std::clamp<std::size_t>(left - 1, 1, socket_piece);
      timer.expires_at(*frame.due);
      if (left == 1) co_await timer.async_wait(as_result);
      if (self->closed_) break;
    }
    const auto [error, count] =
        co_await self->socket_.async_write_some(self->next_buffers(most), as_result);
    // The read loop will say what happened; there may be more to read.
    if (error) break;
    self->written(count);
  }
  self->writing_ended();
}

void TcpConnection::writing_ended() {
  writing_ = false;
  asio::error_code ignored;
  if (finishing_ && !closed_) socket_.shutdown(asio::ip::tcp::socket::shutdown_send, ignored);
}

std::vector<asio::const_buffer> TcpConnection::next_buffers(std::size_t most) const {
  constexpr std::size_t most_buffers = 32;
  std::vector<asio::const_buffer> buffers;
  std::size_t bytes = 0;
  std::size_t skip = front_written_;
  const auto add = [&](const std::byte* data, std::size_t size) {
    const std::size_t from = std::min(skip, size);
    skip -= from;
    const std::size_t count = std::min(size - from, most - bytes);
    if (count > 0) buffers.emplace_back(data + from, count);
    bytes += count;
  };
  for (const Outgoing& frame : queue_) {
    if (frame.due.has_value() != queue_.front().due.has_value()) break;
    add(frame.head.data(), frame.head.size());
    if (frame.payload) add(frame.payload->data(), frame.payload->size());
    add(zeros.data(), frame.fill());
    if (bytes == most || buffers.size() >= most_buffers) break;
  }
  return buffers;
}

void TcpConnection::written(std::size_t bytes) {
  front_written_ += bytes;
  while (!queue_.empty() && front_written_ >= queue_.front().size()) {
    front_written_ -= queue_.front().size();
    queue_.pop_front();
  }
}

void TcpConnection::end(const std::string& why) {
  if (closed_) return;
  close();
  events_.on_end(why);
}

void TcpConnection::close() {
  closed_ = true;
  asio::error_code ignored;
  socket_.close(ignored);
  queue_.clear();
  front_written_ = 0;
}

void tune_for(const asio::ip::address& address, int socket) {
  if (!address.is_loopback()) return;
  constexpr std::string_view reno = "reno";
  constexpr int buffer = 512 * 1024;
  ::setsockopt(socket, IPPROTO_TCP, TCP_CONGESTION, reno.data(), reno.size());
  ::setsockopt(socket, SOL_SOCKET, SO_SNDBUF, &buffer, sizeof buffer);
  ::setsockopt(socket, SOL_SOCKET, SO_RCVBUF, &buffer, sizeof buffer);
}

}  // namespace gv
