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

#include "gossip/link/frames.h"
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
// and of the 28 bytes before prefix_check. So a damaged length is seen before anything waits for so
// many bytes, and lengths are compared with what the fleet allows before anything is allocated.
// Fill keeps payloads at multiples of 64 in the stream, as they are in memory: the kernel copies a
// payload that lies askew to its pages more slowly (a round of 1e5 floats took a third longer).
inline constexpr std::uint32_t magic = 0x314e5647;  // "GVN1"
inline constexpr std::uint16_t version = 6;
inline constexpr std::size_t prefix_bytes = 32;
inline constexpr std::size_t max_header_bytes = 4096;
inline constexpr std::size_t frame_unit = 64;

/// Returns how many zeros follow so many bytes of a frame.
constexpr std::size_t fill_after(std::uint64_t bytes) {
  return static_cast<std::size_t>((frame_unit - bytes % frame_unit) % frame_unit);
}
/// Returns whether all of it is zero, as the fill of a frame must be.
bool is_fill(std::span<const std::byte> bytes);

struct Prefix {
  std::uint16_t header_bytes = 0;
  std::uint64_t payload_bytes = 0;
  std::uint64_t payload_hash = 0;
};

/// Prefix and header of a frame, filled up, ready to be gathered with the payload of a message and
/// the fill after it. payload_hash is computed once per payload by the caller (hash_payload) since
/// one payload goes to several neighbours.
std::vector<std::byte> encode(const Frame& frame, std::uint64_t payload_hash);
/// Does the same for a frame without a payload.
std::vector<std::byte> encode(const Frame& frame);
/// Does the same for a message whose payload lies in memory that the receiver has mapped.
std::vector<std::byte> encode(const NumberedMessage& message, const Loan& loan);

std::uint64_t hash_payload(std::span<const std::byte> payload);

/// Checks magic, version and limits; believes nothing else. `max_payload_bytes` comes from the
/// fleet, not the wire.
Verdict decode_prefix(std::span<const std::byte, prefix_bytes> bytes,
                      std::uint64_t max_payload_bytes,
                      Prefix& out);

/// `prefix` are the raw bytes, for the checks; a message comes without its payload, and with the
/// loan in place of one where there is such.
Verdict decode_header(std::span<const std::byte, prefix_bytes> prefix,
                      std::span<const std::byte> header,
                      Frame& out,
                      std::optional<Loan>& loan);

/// Returns the version of the Protobuf that we are built with, such as "3.21.12".
std::string protobuf_version();

/// Bytes of this message on the wire, for counting; or of one with so large a payload.
std::uint64_t frame_bytes(const Message& m);
std::uint64_t frame_bytes(const Message& m, std::uint64_t payload_bytes);

/// The bounds of what frames of one connection may hold, set by the fleet and not the sender.
struct FrameBounds {
  bool messages = false;            ///< false: the other side has not said who it is
  std::uint32_t kinds = 0;          ///< bit k: messages of kind k, with a payload or without
  std::uint64_t payload_bytes = 0;  ///< of one message, at most
};

/// Makes frames of a stream of bytes, whatever pieces it comes in. No socket: it says where the
/// next bytes are to go, so that a large payload goes straight into a pooled buffer and small
/// frames cost one read. Invariant: no length is believed, and nothing is allocated, before prefix
/// and header have proved whole and within the bounds.
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
  /// Finds where a payload lies that is lent and not sent; none: nothing may be lent.
  using Borrow =
      std::function<Verdict(const Loan& loan, std::uint64_t most_bytes, Payload& payload)>;
  void set_borrow(Borrow borrow) { borrow_ = std::move(borrow); }
  /// Returns where the next bytes of the stream go: `first`, and what is more into `then`.
  Space space();
  /// Tells the reader how many bytes were put into space().
  void filled(std::size_t bytes);
  /// Gives the next frame that is whole. Returns an error when the stream holds none, and none can
  /// follow; nothing in `out` and no error: more bytes are needed.
  Verdict next(std::optional<Frame>& out);
  /// Returns whether the stream may end here: it stands between two frames.
  bool between_frames() const { return state_ == State::prefix && begin_ == end_; }

 protected:
  /// Returns whether the payload is the one that was sent.
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
  std::array<std::byte, 8192> staging_;  ///< bytes of the stream that no frame has claimed yet
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  Prefix prefix_;
  Frame frame_;  ///< whose payload is on its way
  std::shared_ptr<Buffer> payload_;
  std::size_t payload_filled_ = 0;
};

}  // namespace gv::wire
