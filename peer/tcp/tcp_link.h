#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <string>

#include "peer/tcp/tcp_frames.h"

namespace gv {

/// A connection to one neighbour: a queue of frames going out, a loop of frames coming in. Lives on
/// the peer's loop.
class TcpLink : public std::enable_shared_from_this<TcpLink> {
 public:
  struct Events {
    /// A message or a heartbeat; returns what is wrong with it, nothing when it is fine.
    std::function<std::string(wire::Header)> on_frame;
    /// Nothing more will come; once. Empty: the neighbour closed its side between two frames.
    std::function<void(const std::string& error)> on_end;
    std::function<void()> on_closed;  ///< both sides are done; once, after on_end
  };

  TcpLink(std::unique_ptr<TcpFrames> frames, std::uint64_t max_payload_bytes);

  void start(BufferPool& pool, Events events);
  void send(Outgoing frame);
  /// Nothing more will be sent: tells the neighbour after the last queued frame. The neighbour may
  /// go on sending, as we may after its end.
  void finish();
  /// At once, whatever is on its way.
  void close();
  bool ended() const { return ended_; }  ///< nothing more will come
  bool closed() const { return closed_; }

 private:
  static asio::awaitable<void> read_loop(std::shared_ptr<TcpLink> self, BufferPool& pool);
  static asio::awaitable<void> write_loop(std::shared_ptr<TcpLink> self);
  /// The same for frames that are due at a time of their own.
  static asio::awaitable<void> timed_write_loop(std::shared_ptr<TcpLink> self);
  /// Up to `most` bytes of the queue, beginning where the last write ended.
  std::vector<asio::const_buffer> next_buffers(std::size_t most) const;
  void written(std::size_t bytes);
  void shut_down();
  void end(const std::string& error);

  std::unique_ptr<TcpFrames> frames_;
  std::uint64_t max_payload_bytes_;
  Events events_;
  std::deque<Outgoing> queue_;
  std::size_t front_written_ = 0;  ///< bytes of the queue's first frame already gone
  bool writing_ = false;
  bool finishing_ = false;
  bool shut_down_ = false;
  bool ended_ = false;
  bool closed_ = false;
};

}  // namespace gv
