#pragma once

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
#include "peer/wire/seal/tls_session.h"

namespace gv {

/// Prefix and header, filled up, and the payload that follows them and is filled up.
struct Outgoing {
  std::vector<std::byte> head;
  Payload payload;
  /// The time at which it is to be with the other side, on an emulated network.
  std::optional<std::chrono::steady_clock::time_point> due = {};
  std::size_t fill() const { return payload ? wire::fill_after(payload->size()) : 0; }
  std::size_t size() const { return head.size() + (payload ? payload->size() : 0) + fill(); }
};

/// A socket that speaks frames, plainly or through TLS: a queue of frames going out, a loop of
/// frames coming in. Lives on the peer's loop. Plain frames are gathered from where they lie and
/// read to where they are to be; TLS adds a copy of each byte either way, in cache.
/// Invariant: of an other end that has not said who it is, at most `most_of_stranger` bytes are
/// read; and, where it is to prove that, no frame of it is looked at before.
class TcpConnection : public std::enable_shared_from_this<TcpConnection> {
 public:
  struct Events {
    std::function<void(Frame)> on_frame;
    std::function<void(std::size_t bytes)> on_bytes;  ///< came, of whole frames or not
    /// Tells that what came is no frame that may come. on_end follows.
    std::function<void()> on_no_frame;
    /// Tells that nothing more will come, and the socket is closed; once, and not after close().
    std::function<void(const std::string& why)> on_end;
    /// The other end has proved to be proved(); frames may go and come.
    std::function<void()> on_secured{};
    /// The other end is not whom it must be, or does not believe us. on_end follows.
    std::function<void(const std::string& why)> on_refused{};
  };
  /// The means that keep others out of the connection.
  struct Protection {
    std::unique_ptr<TlsSession> tls{};  ///< null: nothing
    bool plain_too = false;             ///< the other end chooses, by its first byte
  };
  static constexpr std::size_t most_of_stranger = 16 * 1024;

  /// `socket` is connected; `pool` holds the payloads that come.
  TcpConnection(asio::ip::tcp::socket socket,
                BufferPool& pool,
                Events events,
                Protection protection);

  void start();
  /// The other end has said who it is, and may send this.
  void set_bounds(const wire::FrameBounds& bounds) {
    reader_.set_bounds(bounds);
    known_ = true;
  }
  /// Whom the other end has proved to be; nothing: the connection is not encrypted, or not yet.
  std::optional<PeerId> proved() const;
  /// TlsSession::channel; "": the connection is not encrypted.
  std::string channel() const { return proved() ? tls_->channel() : ""; }
  void set_borrow(wire::FrameReader::Borrow borrow) { reader_.set_borrow(std::move(borrow)); }
  void send(Outgoing frame);
  /// Sends nothing more after what waits. The other side may go on.
  void finish();
  /// Closes at once, whatever is on its way.
  void close();

 private:
  using Self = std::shared_ptr<TcpConnection>;
  static asio::awaitable<void> read_loop(Self self);
  static asio::awaitable<void> write_loop(Self self);
  static asio::awaitable<bool> write_encrypted(Self self, std::size_t most);
  /// Returns where the next bytes of the socket go.
  std::array<asio::mutable_buffer, 2> space();
  /// Takes so many bytes that have come; returns an error when the connection cannot go on.
  std::string take(std::size_t bytes);
  std::string take_encrypted();
  std::string become_plain();
  /// Gives out what is whole; an error when the stream holds no frame.
  std::string take_frames();
  /// Returns whether there is something that may go out now.
  bool unsent() const;
  void write_on();
  void say_last_words();
  void say_farewell();
  std::string ending() const;
  void refuse(const std::string& why);
  /// Returns up to `most` bytes of the queue, beginning where the last write ended.
  std::vector<asio::const_buffer> next_buffers(std::size_t most) const;
  void written(std::size_t bytes);
  void writing_ended();
  void end(const std::string& why);

  asio::ip::tcp::socket socket_;
  std::unique_ptr<TlsSession> tls_;
  bool plain_too_ = false;
  bool known_ = false;
  std::size_t stranger_left_ = most_of_stranger;  ///< bytes that it may still send
  std::vector<std::byte> encrypted_;              ///< on its way to the socket
  wire::FrameReader reader_;
  Events events_;
  std::deque<Outgoing> queue_;
  std::size_t front_written_ = 0;  ///< bytes of the queue's first frame already gone
  bool writing_ = false;
  bool finishing_ = false;
  bool closed_ = false;
};

/// Tunes a socket before it listens or connects, as the window is fixed there: on loopback it takes
/// a congestion control that does not hold back, and buffers of a size that stays in cache:
/// together a round of 1e6 floats takes 0.8 of the time that it takes with the system's. Elsewhere
/// the system knows better: what is right depends on the distance.
void tune_for(const asio::ip::address& address, int socket);

}  // namespace gv
