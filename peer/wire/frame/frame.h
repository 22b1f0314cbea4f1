#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "gossip/link/frames.h"
#include "optim/error_text.h"
#include "peer/wire/lend/loan.h"

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

}  // namespace gv::wire
