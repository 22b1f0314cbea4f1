#include "peer/wire/tcp/tcp_connection.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include <asio/co_spawn.hpp>
#include <asio/detached.hpp>
#include <asio/error.hpp>
#include <asio/steady_timer.hpp>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include "peer/wire/tcp/connecting.h"

namespace gv {
namespace {

/// Largest read or write on a socket at once. Asio's composed operations stop at 64 KiB.
constexpr std::size_t socket_piece = 512 * 1024;

/// Bytes encrypted at once: the kernel then reads them while they are in cache.
constexpr std::size_t encrypted_piece = 256 * 1024;

constexpr std::array<std::byte, wire::frame_unit> zeros{};

/// Returns room for a read of at most `socket_piece`; bytes after a payload are read with it.
std::array<asio::mutable_buffer, 2> buffers_of(const wire::FrameReader::Space& space) {
  const std::size_t first = std::min(space.first.size(), socket_piece);
  const std::size_t then = first == space.first.size() ? space.then.size() : 0;
  return {asio::buffer(space.first.data(), first), asio::buffer(space.then.data(), then)};
}

}  // namespace

std::size_t Travel::ready(std::size_t bytes, Clock::time_point now) const {
  if (now >= end) return bytes;
  if (end - now <= pause) return bytes - 1;
  using Seconds = std::chrono::duration<double>;
  return static_cast<std::size_t>(static_cast<double>(bytes) *
                                  (Seconds(now - begin) / Seconds(end - begin)));
}

TcpConnection::TcpConnection(asio::ip::tcp::socket socket,
                             BufferPool& pool,
                             Events events,
                             Protection protection)
    : socket_(std::move(socket)),
      tls_(std::move(protection.tls)),
      plain_too_(protection.plain_too),
      reader_(pool),
      events_(std::move(events)) {
  asio::error_code ignored;
  socket_.set_option(asio::ip::tcp::no_delay(true), ignored);
}

/// The end that has dialled sends first, also in TLS.
void TcpConnection::start() {
  if (tls_) tls_->shake();
  asio::co_spawn(socket_.get_executor(), read_loop(shared_from_this()), asio::detached);
  write_on();
}

void TcpConnection::send(Outgoing frame) {
  if (closed_ || finishing_) return;
  queue_.push_back(std::move(frame));
  write_on();
}

void TcpConnection::write_on() {
  if (closed_ || !unsent() || std::exchange(writing_, true)) return;
  asio::co_spawn(socket_.get_executor(), write_loop(shared_from_this()), asio::detached);
}

bool TcpConnection::unsent() const {
  if (!tls_) return !queue_.empty();
  return tls_->has_output() || (proved() && !queue_.empty());
}

std::optional<PeerId> TcpConnection::proved() const {
  if (!tls_ || tls_->state() != TlsSession::State::secured) return {};
  return tls_->peer();
}

void TcpConnection::finish() {
  finishing_ = true;
  if (!writing_) writing_ended();
}

std::array<asio::mutable_buffer, 2> TcpConnection::space() {
  std::array<asio::mutable_buffer, 2> buffers;
  if (tls_) {
    const std::span<std::byte> all = tls_->space();
    buffers[0] = asio::buffer(all.data(), all.size());
  } else {
    buffers = buffers_of(reader_.space());
  }
  if (!known_) buffers = {asio::buffer(buffers[0], stranger_left_), asio::mutable_buffer()};
  return buffers;
}

asio::awaitable<void> TcpConnection::read_loop(Self self) {
  for (;;) {
    if (!self->known_ && self->stranger_left_ == 0)
      co_return self->end("more bytes than a Hello has, and no Hello");
    const auto [error, count] = co_await self->socket_.async_read_some(self->space(), as_result);
    if (self->closed_) co_return;
    if (error == asio::error::eof) co_return self->end(self->ending());
    if (error) co_return self->end(error.message());
    self->stranger_left_ -= std::min(count, self->stranger_left_);
    if (const std::string wrong = self->take(count); !wrong.empty()) {
      self->refuse(wrong);
      co_return self->end(wrong);
    }
    if (self->closed_) co_return;
    if (self->tls_ && self->tls_->ended()) co_return self->end(self->ending());
  }
}

std::string TcpConnection::ending() const {
  if (tls_ && !proved()) return "it closed the connection before it had proved who it is";
  return reader_.between_frames() ? "it closed the connection" : "the stream ends inside a frame";
}

std::string TcpConnection::take(std::size_t bytes) {
  if (!tls_) {
    reader_.filled(bytes);
    events_.on_bytes(bytes);
    return take_frames();
  }
  tls_->filled(bytes);
  events_.on_bytes(bytes);
  if (closed_) return "";
  const bool plain = std::exchange(plain_too_, false) && !begins_tls(tls_->came().front());
  return plain ? become_plain() : take_encrypted();
}

/// Called when the other end, on this machine, has chosen plain frames.
std::string TcpConnection::become_plain() {
  const std::unique_ptr<TlsSession> tls = std::move(tls_);
  for (std::span<const std::byte> came = tls->came(); !came.empty() && !closed_;) {
    const std::span<std::byte> room = reader_.space().first;
    const std::size_t count = std::min(room.size(), came.size());
    if (count == 0) return "more bytes than a Hello has, and no Hello";
    std::copy_n(came.data(), count, room.data());
    came = came.subspan(count);
    reader_.filled(count);
    if (std::string wrong = take_frames(); !wrong.empty()) return wrong;
  }
  return "";
}

std::string TcpConnection::take_encrypted() {
  if (tls_->state() == TlsSession::State::shaking) {
    tls_->shake();
    if (proved()) events_.on_secured();
  }
  for (bool more = true; more && !closed_ && proved();) {
    const std::span<std::byte> room = reader_.space().first;
    const std::size_t count = tls_->read(room);
    more = count == room.size();
    reader_.filled(count);
    if (std::string wrong = take_frames(); !wrong.empty()) return wrong;
  }
  if (closed_) return "";
  if (tls_->state() == TlsSession::State::broken) return tls_->why();
  write_on();
  return "";
}

void TcpConnection::refuse(const std::string& why) {
  if (!tls_ || tls_->state() != TlsSession::State::broken) return events_.on_no_frame();
  say_last_words();
  if (events_.on_refused) events_.on_refused(why);
}

/// Sends an alert, an error or the end, if the socket takes it at once and no record is being
/// written.
void TcpConnection::say_last_words() {
  if (writing_) return;
  encrypted_ = tls_->take_output(std::move(encrypted_));
  ::send(socket_.native_handle(), encrypted_.data(), encrypted_.size(),
         MSG_DONTWAIT | MSG_NOSIGNAL);
}

std::string TcpConnection::take_frames() {
  for (std::optional<Frame> frame; !closed_;) {
    std::string wrong = reader_.next(frame);
    if (!wrong.empty() || !frame) return wrong;
    events_.on_frame(std::move(*frame));
  }
  return "";
}

asio::awaitable<void> TcpConnection::write_loop(Self self) {
  asio::steady_timer timer(self->socket_.get_executor());
  while (self->unsent() && !self->closed_) {
    std::size_t most = socket_piece;
    if (!self->queue_.empty() && self->queue_.front().travel) {
      const Outgoing& frame = self->queue_.front();
      const auto now = Travel::Clock::now();
      const std::size_t ready = frame.travel->ready(frame.size(), now);
      if (ready <= self->front_written_) {
        timer.expires_at(frame.travel->next(now));
        co_await timer.async_wait(as_result);
        continue;
      }
      most = std::min(ready - self->front_written_, socket_piece);
    }
    if (self->tls_) {
      const bool written = co_await write_encrypted(self, most);
      if (!written) break;
      continue;
    }
    const auto [error, count] =
        co_await self->socket_.async_write_some(self->next_buffers(most), as_result);
    // The read loop reports the error; there may be more to read.
    if (error) break;
    self->written(count);
  }
  self->writing_ended();
}

/// Writes pending handshake bytes, and frames up to the size of a piece.
asio::awaitable<bool> TcpConnection::write_encrypted(Self self, std::size_t most) {
  if (self->proved() && !self->queue_.empty()) {
    std::vector<std::span<const std::byte>> pieces;
    std::size_t bytes = 0;
    for (const asio::const_buffer& buffer : self->next_buffers(std::min(most, encrypted_piece))) {
      pieces.emplace_back(static_cast<const std::byte*>(buffer.data()), buffer.size());
      bytes += buffer.size();
    }
    self->tls_->write(pieces);
    self->written(bytes);
  }
  self->encrypted_ = self->tls_->take_output(std::move(self->encrypted_));
  for (std::size_t done = 0; done < self->encrypted_.size() && !self->closed_;) {
    const auto rest = asio::buffer(self->encrypted_) + done;
    const auto [error, count] = co_await self->socket_.async_write_some(rest, as_result);
    if (error) co_return false;
    done += count;
  }
  co_return !self->closed_;
}

void TcpConnection::writing_ended() {
  writing_ = false;
  if (!finishing_ || closed_) return;
  say_farewell();
  asio::error_code ignored;
  socket_.shutdown(asio::ip::tcp::socket::shutdown_send, ignored);
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
    if (frame.travel.has_value() != queue_.front().travel.has_value()) break;
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

void TcpConnection::say_farewell() {
  if (!proved()) return;
  tls_->say_farewell();
  say_last_words();
}

void TcpConnection::close() {
  if (!std::exchange(closed_, true)) say_farewell();
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
