#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "gossip/link/carrier.h"
#include "optim/buffer.h"
#include "optim/error_text.h"
#include "peer/wire/lend/sharing.h"

namespace gv::wire {

// Grammar of a stream between two peers, little-endian:
//   stream  := frame*                        the first frame of each side is a Hello
//   frame   := prefix header fill payload fill
//   prefix  := magic:u32 version:u16 header_bytes:u16 payload_bytes:u64 payload_hash:u64
//              header_check:u32 prefix_check:u32
//   header  := Protobuf `Header` (wire.proto), header_bytes long, at most 4096
//   payload := raw little-endian float32, payload_bytes long
//   fill    := zeros, up to the next multiple of 64 bytes
// Between machines the whole stream goes through TLS 1.3 (wire/seal/tls_session.h).
// Between processes that share memory a header carries a loan, and no payload follows.
// payload_hash is XXH3-64 of the payload; the checks are the low halves of XXH3-64, of the header
// and of the 28 bytes before prefix_check. So a damaged length is detected before the reader waits
// for that number of bytes, and lengths are compared with the fleet's limits before allocation.
// Fill keeps payloads at multiples of 64 in the stream, as in memory: the kernel copies a payload
// that is misaligned with its pages more slowly (a round of 1e5 floats took a third longer).
inline constexpr std::uint32_t magic = 0x314e5647;  // "GVN1"
inline constexpr std::uint16_t version = 6;
inline constexpr std::size_t prefix_bytes = 32;
inline constexpr std::size_t max_header_bytes = 4096;
inline constexpr std::size_t frame_unit = 64;

/// Returns the number of zeros that follow `bytes` bytes of a frame.
constexpr std::size_t fill_after(std::uint64_t bytes) {
  return static_cast<std::size_t>((frame_unit - bytes % frame_unit) % frame_unit);
}
/// Returns whether all bytes are zero, as the fill of a frame must be.
bool is_fill(std::span<const std::byte> bytes);

struct Prefix {
  std::uint16_t header_bytes = 0;
  std::uint64_t payload_bytes = 0;
  std::uint64_t payload_hash = 0;
};

/// Returns prefix and header of a frame with their fill, to be gathered with the message's payload
/// and the fill after it. The caller computes payload_hash (hash_payload) once per payload, because
/// one payload goes to several neighbours.
std::vector<std::byte> encode(const Frame& frame, std::uint64_t payload_hash);
/// Encodes a frame without a payload.
std::vector<std::byte> encode(const Frame& frame);
/// Encodes a message whose payload lies in memory that the receiver has mapped.
std::vector<std::byte> encode(const NumberedMessage& message, const Loan& loan);

std::uint64_t hash_payload(std::span<const std::byte> payload);

/// Decodes the prefix after checking magic, version and limits. `max_payload_bytes` comes from the
/// fleet, not the wire.
Verdict decode_prefix(std::span<const std::byte, prefix_bytes> bytes,
                      std::uint64_t max_payload_bytes,
                      Prefix& out);

/// Decodes the header. `prefix`: its raw bytes, for the checks. A message is returned without its
/// payload, and with `loan` set if the payload is lent.
Verdict decode_header(std::span<const std::byte, prefix_bytes> prefix,
                      std::span<const std::byte> header,
                      Frame& out,
                      std::optional<Loan>& loan);

/// Returns the version of Protobuf that this program was built with, such as "3.21.12".
std::string protobuf_version();

/// Returns the bytes of this message on the wire, with its own payload or one of `payload_bytes`.
std::uint64_t frame_bytes(const Message& m);
std::uint64_t frame_bytes(const Message& m, std::uint64_t payload_bytes);

/// Bounds on the frames of one connection, set by the fleet and not the sender.
struct FrameBounds {
  bool messages = false;            ///< messages are allowed: the other side has said who it is
  std::uint32_t kinds = 0;          ///< bit k: allows messages of kind k, with or without payload
  std::uint64_t payload_bytes = 0;  ///< maximum payload of a message
};

/// Makes frames from a stream of bytes that arrives in any pieces. Has no socket: space() returns
/// the place for the next bytes, so that a large payload goes straight into a pooled buffer and
/// small frames cost one read. Invariant: no length is used and no memory allocated before prefix
/// and header have passed their checks and are within the bounds.
///
///   prefix --32 bytes, fine--> header --its bytes, fine--> payload --its bytes, fine--> prefix
class FrameReader {
 public:
  enum class State : std::uint8_t { prefix, header, payload };
  struct Space {
    std::span<std::byte> first, then;
  };

  explicit FrameReader(BufferPool& pool) : pool_(pool) {}
  virtual ~FrameReader() = default;

  void set_bounds(const FrameBounds& bounds) { bounds_ = bounds; }
  /// Finds a payload that is lent and not sent. Without it, loans are refused.
  using Borrow =
      std::function<Verdict(const Loan& loan, std::uint64_t most_bytes, Payload& payload)>;
  void set_borrow(Borrow borrow) { borrow_ = std::move(borrow); }
  /// Returns where to put the next bytes of the stream: `first`, then `then`.
  Space space();
  /// Reports how many bytes were put into space().
  void filled(std::size_t bytes);
  /// Sets `out` to the next complete frame, or to nothing if more bytes are needed. Returns an
  /// error if the stream is invalid; no frame can follow.
  Verdict next(std::optional<Frame>& out);
  /// Returns whether the stream may end here, between two frames.
  bool between_frames() const { return state_ == State::prefix && begin_ == end_; }

 protected:
  /// Returns whether the payload has this hash.
  virtual bool intact(std::span<const std::byte> payload, std::uint64_t hash) const;

 private:
  std::size_t staged() const { return end_ - begin_; }
  bool payload_is_coming() const { return payload_ && payload_filled_ < payload_->size(); }
  Verdict read_prefix();
  Verdict read_header();
  Verdict judge_message(const Message& message, bool loaded) const;
  Verdict borrow(const Loan& loan, Message& message) const;

  BufferPool& pool_;
  FrameBounds bounds_;
  Borrow borrow_;
  State state_ = State::prefix;
  std::array<std::byte, 8192> staging_;  ///< bytes of the stream not yet assigned to a frame
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  Prefix prefix_;
  Frame frame_;  ///< frame whose payload is being received
  std::shared_ptr<Buffer> payload_;
  std::size_t payload_filled_ = 0;
};

}  // namespace gv::wire
