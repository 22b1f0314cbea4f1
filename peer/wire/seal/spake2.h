#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "peer/wire/seal/peer_keys.h"

namespace gv {

/// Makes 40 bytes of a short secret by scrypt (Percival and Josefsson, RFC 7914, 2016) with
/// N = 2^14, r = 8, p = 1: about 50 ms and 16 MiB, which is then the price of each guess at the
/// secret of a stolen result. Throws std::runtime_error.
Secret stretch(std::string_view secret, std::string_view salt);

/// One end of an exchange by which a lobby and a joining machine verify that both know one short
/// secret. SPAKE2 of Ladd and Kaduk, RFC 9382, 2023, with P-256, SHA-256, HKDF and HMAC. The bytes
/// exchanged are useless for guessing offline: each exchange tests one guess at most.
///
/// Each end sends share(), gives the other end's share to take(), sends proof(), and gives the
/// other end's proof to fits(). The joining end proves first, and the lobby gives its own proof
/// only if that one fits: otherwise a guesser learns the result before the lobby has counted the
/// attempt. A joining end must not retry by itself, because each exchange is one guess for a false
/// lobby. One object is one attempt.
///
/// `channel` is the additional data of the RFC: the exporter value (RFC 8446, 7.5) of the TLS
/// connection. A man in the middle has two connections with two values, so no proof made on one
/// fits on the other. Both ends talk inside that connection, so the RFC's key Ke is not used.
class Spake2 {
 public:
  enum class Side : std::uint8_t { joins, lobby };  ///< A and B of the RFC

  /// Draws a scalar and makes the share. `stretched`: 40 bytes or more, as of stretch(), taken as
  /// a number modulo the order of the curve. Throws std::runtime_error.
  Spake2(Side side, const Secret& stretched, std::string_view channel);
  Spake2(const Spake2&) = delete;
  Spake2& operator=(const Spake2&) = delete;

  const std::string& share() const { return share_; }  ///< 65 bytes, an uncompressed point

  /// Takes the other end's share, and makes both proofs. Returns false if the bytes are not an
  /// uncompressed point of the curve, are our own share, lead to the identity, or are not the first
  /// share: then no proof fits. Throws std::runtime_error.
  bool take(std::string_view share);
  /// Returns our key confirmation, 32 bytes. Only after take() has returned true.
  std::string proof() const;
  /// Returns whether these bytes are the other end's key confirmation: then both ends know one
  /// secret and share one channel. False before a successful take(). Compares in constant time.
  bool fits(std::string_view proof) const;

 private:
  friend struct Spake2Vectors;  // tests: the RFC's identities and scalars

  struct Identities {
    std::string_view joins, lobby;
  };
  Spake2(Side side,
         Identities identities,
         const Secret& stretched,
         Secret scalar,
         std::string_view channel);
  Secret transcript(std::string_view their_share, std::string_view shared_point) const;
  void make_proofs(std::string_view transcript);

  Side side_;
  std::string joins_, lobby_, channel_;
  Secret w_, scalar_;  ///< 32 bytes each, big-endian; the RFC's w, and x or y
  std::string share_;
  bool has_taken_ = false;
  Secret own_proof_, their_proof_;  ///< empty before a successful take()
};

}  // namespace gv
