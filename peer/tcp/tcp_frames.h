#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <asio/awaitable.hpp>
#include <asio/ip/tcp.hpp>

#include "peer/wire/frame.h"

namespace gv {

/// Largest piece given to or asked of a socket at once. Asio's composed operations stop at 64 KiB.
inline constexpr std::size_t socket_piece = 512 * 1024;

/// The error of a stream that the other side closed between two frames.
inline constexpr const char* end_of_stream = "end of stream";

/// What came from a socket: a frame, or why there will be none.
struct Incoming {
  std::string error;  ///< empty: a frame
  wire::Header header;
  bool ended() const { return !error.empty(); }
};

/// Prefix and header, and the payload that follows them.
struct Outgoing {
  std::vector<std::byte> head;
  Payload payload;
  /// When it is to be with the neighbour, on an emulated network.
  std::optional<std::chrono::steady_clock::time_point> due = {};
  std::size_t size() const { return head.size() + (payload ? payload->size() : 0); }
};

/// A socket that speaks frames (wire/frame.h). Small frames cost one read; the payload of a large
/// one goes straight into a pooled buffer.
class TcpFrames {
 public:
  explicit TcpFrames(asio::ip::tcp::socket socket) : socket(std::move(socket)) {}
  asio::ip::tcp::socket socket;

  /// The next frame; its payload is in header.message. Never throws.
  asio::awaitable<Incoming> read(std::uint64_t max_payload_bytes, BufferPool& pool);
  /// All of it. Returns the error, empty when fine. Never throws.
  asio::awaitable<std::string> write(const std::vector<std::byte>& bytes);

 private:
  /// At least `bytes` of the stream stand in staging_; the error, empty when fine.
  asio::awaitable<std::string> fill(std::size_t bytes);
  asio::awaitable<std::string> read_payload(Buffer& payload);
  std::size_t staged() const { return end_ - begin_; }

  std::array<std::byte, 8192> staging_;  ///< bytes of the stream that no frame has claimed yet
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
};

}  // namespace gv
