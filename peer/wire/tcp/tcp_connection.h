#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <asio/awaitable.hpp>
#include <asio/buffer.hpp>
#include <asio/ip/tcp.hpp>

#include "peer/wire/frame/frame.h"
#include "peer/wire/seal/tls_context.h"

namespace gv {

/// The time in which the bytes of a frame arrive, in equal shares.
struct Travel {
  using Clock = std::chrono::steady_clock;
  Clock::time_point begin, end;

  /// Returns how many of `bytes` may leave at `now`. In the last second, all but the last one: the
  /// copy through the kernel, and its cost, is over when the frame is due.
  std::size_t ready(std::size_t bytes, Clock::time_point now) const;
  /// Returns when more may leave.
  Clock::time_point next(Clock::time_point now) const {
    return std::min(now + pause, now < end - pause ? end - pause : end);
  }

 private:
  static constexpr std::chrono::seconds pause{1};
};

/// A frame to send: prefix and header with fill, and the payload, which is filled too.
struct Outgoing {
  std::vector<std::byte> head;
  Payload payload;
  /// Times at which its first and its last byte are to arrive, on an emulated network.
  std::optional<Travel> travel = {};
  std::size_t fill() const { return payload ? wire::fill_after(payload->size()) : 0; }
  std::size_t size() const { return head.size() + (payload ? payload->size() : 0) + fill(); }
};

/// A socket for frames, plain or with TLS: a queue of outgoing frames and a loop of incoming ones.
/// Lives on the peer's loop. Plain frames are gathered from and read into their final buffers; TLS
/// adds a copy of each byte in either direction, in cache.
/// Invariant: at most `most_of_stranger` bytes are read from an end that has not identified itself;
/// and if it must prove its identity, no frame is examined before the proof.
class TcpConnection : public std::enable_shared_from_this<TcpConnection> {
 public:
  struct Events {
    std::function<void(Frame)> on_frame;
    std::function<void(std::size_t bytes)> on_bytes;  ///< bytes received, of complete frames or not
    /// Called if the input is no allowed frame. on_end follows.
    std::function<void()> on_no_frame;
    /// Called once when no more input will come and the socket is closed; not after close().
    std::function<void(const std::string& why)> on_end;
    /// Called when the other end has proved its identity, see proved(); frames may now flow.
    std::function<void()> on_secured{};
    /// Called if the other end is not the expected peer, or rejects us. on_end follows.
    std::function<void(const std::string& why)> on_refused{};
  };
  /// Protection of the connection from others.
  struct Protection {
    std::unique_ptr<TlsSession> tls{};  ///< unset without encryption
    bool plain_too = false;  ///< the other end may choose plain frames, by its first byte
  };
  static constexpr std::size_t most_of_stranger = 16 * 1024;

  /// `socket` must be connected; `pool` allocates received payloads.
  TcpConnection(asio::ip::tcp::socket socket,
                BufferPool& pool,
                Events events,
                Protection protection);

  void start();
  /// Sets the bounds of input once the other end has identified itself.
  void set_bounds(const wire::FrameBounds& bounds) {
    reader_.set_bounds(bounds);
    known_ = true;
  }
  /// Returns the proved identity of the other end, or nothing without encryption or before its
  /// proof.
  std::optional<PeerId> proved() const;
  /// Returns TlsSession::channel, or "" as long as proved() returns nothing.
  std::string channel() const { return proved() ? tls_->channel() : ""; }
  void set_borrow(wire::FrameReader::Borrow borrow) { reader_.set_borrow(std::move(borrow)); }
  void send(Outgoing frame);
  /// Closes our direction after the queued frames. The other end may continue to send.
  void finish();
  /// Closes at once, and drops all unsent frames.
  void close();

 private:
  using Self = std::shared_ptr<TcpConnection>;
  static asio::awaitable<void> read_loop(Self self);
  static asio::awaitable<void> write_loop(Self self);
  static asio::awaitable<bool> write_encrypted(Self self, std::size_t most);
  /// Returns the buffers for the socket's next bytes.
  std::array<asio::mutable_buffer, 2> space();
  /// Takes `bytes` received bytes. Returns an error if the connection cannot continue.
  std::string take(std::size_t bytes);
  std::string take_encrypted();
  std::string become_plain();
  /// Passes on complete frames. Returns an error if the stream is invalid.
  std::string take_frames();
  /// Returns whether there is output that may be sent now.
  bool unsent() const;
  void write_on();
  void say_last_words();
  void say_farewell();
  std::string ending() const;
  void refuse(const std::string& why);
  /// Returns up to `most` bytes of the queue, from the end of the last write on.
  std::vector<asio::const_buffer> next_buffers(std::size_t most) const;
  void written(std::size_t bytes);
  void writing_ended();
  void end(const std::string& why);

  asio::ip::tcp::socket socket_;
  std::unique_ptr<TlsSession> tls_;
  bool plain_too_ = false;
  bool known_ = false;
  std::size_t stranger_left_ = most_of_stranger;  ///< bytes that a stranger may still send
  std::vector<std::byte> encrypted_;              ///< encrypted bytes being written
  wire::FrameReader reader_;
  Events events_;
  std::deque<Outgoing> queue_;
  std::size_t front_written_ = 0;  ///< bytes of the queue's first frame already gone
  bool writing_ = false;
  bool finishing_ = false;
  bool closed_ = false;
};

/// Tunes a socket before it listens or connects, when the window is fixed. On loopback, sets a
/// congestion control that does not hold back, and buffers that stay in cache: a round of 1e6
/// floats then takes 0.8 of the time with the system's defaults. Other sockets keep the defaults,
/// since the best values depend on the distance.
void tune_for(const asio::ip::address& address, int socket);

}  // namespace gv
