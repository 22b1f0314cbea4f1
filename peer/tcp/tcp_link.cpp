#include "peer/tcp/tcp_link.h"

#include <algorithm>
#include <utility>

#include <asio/co_spawn.hpp>
#include <asio/detached.hpp>
#include <asio/experimental/as_tuple.hpp>
#include <asio/steady_timer.hpp>
#include <asio/use_awaitable.hpp>

namespace gv {
namespace {

constexpr auto as_result = asio::experimental::as_tuple(asio::use_awaitable);

}  // namespace

TcpLink::TcpLink(std::unique_ptr<TcpFrames> frames, std::uint64_t max_payload_bytes)
    : frames_(std::move(frames)), max_payload_bytes_(max_payload_bytes) {}

void TcpLink::start(BufferPool& pool, Events events) {
  events_ = std::move(events);
  asio::co_spawn(
      frames_->socket.get_executor(), read_loop(shared_from_this(), pool), asio::detached);
}

void TcpLink::send(Outgoing frame) {
  if (closed_ || finishing_) return;
  const bool timed = frame.due.has_value();
  queue_.push_back(std::move(frame));
  if (writing_) return;
  writing_ = true;
  const auto executor = frames_->socket.get_executor();
  const auto loop = timed ? timed_write_loop : write_loop;
  asio::co_spawn(executor, loop(shared_from_this()), asio::detached);
}

void TcpLink::finish() {
  finishing_ = true;
  if (!writing_) shut_down();
}

asio::awaitable<void> TcpLink::read_loop(std::shared_ptr<TcpLink> self, BufferPool& pool) {
  for (;;) {
    Incoming in = co_await self->frames_->read(self->max_payload_bytes_, pool);
    if (in.error == end_of_stream) co_return self->end("");
    if (!in.ended() && in.header.kind == wire::FrameKind::refusal)
      in.error = "refused: " + in.header.refusal.reason;
    if (!in.ended() && in.header.kind == wire::FrameKind::hello) in.error = "a second Hello";
    if (in.ended() || self->closed_) co_return self->end(in.error);
    if (const std::string wrong = self->events_.on_frame(std::move(in.header)); !wrong.empty())
      co_return self->end(wrong);
  }
}

asio::awaitable<void> TcpLink::write_loop(std::shared_ptr<TcpLink> self) {
  while (!self->queue_.empty() && !self->closed_) {
    const auto [error, count] = co_await self->frames_->socket.async_write_some(
        self->next_buffers(socket_piece), as_result);
    // A reader that is still busy will say what happened; there may be more to read.
    if (error) break;
    self->written(count);
  }
  self->writing_ = false;
  if (self->finishing_) self->shut_down();
}

/// A frame travels ahead of its time but for its last byte, which the neighbour gets when the frame
/// is due: the copy through the kernel, and what it costs, is over by then.
asio::awaitable<void> TcpLink::timed_write_loop(std::shared_ptr<TcpLink> self) {
  asio::ip::tcp::socket& socket = self->frames_->socket;
  asio::steady_timer timer(socket.get_executor());
  while (!self->queue_.empty() && !self->closed_) {
    const Outgoing& frame = self->queue_.front();
    const std::size_t left = frame.size() - self->front_written_;
    if (left == 1) {
      timer.expires_at(*frame.due);
      co_await timer.async_wait(as_result);
      if (self->closed_) break;
    }
    const std::size_t most = std::clamp<std::size_t>(left - 1, 1, socket_piece);
    const auto [error, count] =
        co_await socket.async_write_some(self->next_buffers(most), as_result);
    if (error) break;
    self->written(count);
  }
  self->writing_ = false;
  if (self->finishing_) self->shut_down();
}

std::vector<asio::const_buffer> TcpLink::next_buffers(std::size_t most) const {
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
    add(frame.head.data(), frame.head.size());
    if (frame.payload) add(frame.payload->data(), frame.payload->size());
    if (bytes == most || buffers.size() >= most_buffers) break;
  }
  return buffers;
}

void TcpLink::written(std::size_t bytes) {
  front_written_ += bytes;
  while (!queue_.empty() && front_written_ >= queue_.front().size()) {
    front_written_ -= queue_.front().size();
    queue_.pop_front();
  }
}

void TcpLink::shut_down() {
  if (closed_ || std::exchange(shut_down_, true)) return;
  asio::error_code ignored;
  frames_->socket.shutdown(asio::ip::tcp::socket::shutdown_send, ignored);
  if (ended_) close();
}

void TcpLink::end(const std::string& error) {
  if (std::exchange(ended_, true)) return;
  events_.on_end(error);
  if (!error.empty() || shut_down_) close();
}

void TcpLink::close() {
  if (std::exchange(closed_, true)) return;
  asio::error_code ignored;
  frames_->socket.close(ignored);
  queue_.clear();
  front_written_ = 0;
  events_.on_closed();
}

}  // namespace gv
