#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "peer/tls/openssl.h"
#include "peer/tls/sealed_bytes.h"
#include "peer/tls/secret.h"

namespace gv {

using OwnedCipher = std::unique_ptr<EVP_CIPHER_CTX, Released<EVP_CIPHER_CTX_free>>;

// A record on the wire (RFC 8446, section 5.2): five bytes with its length, and encrypted its
// content, the content's type and the tag of both.
constexpr std::size_t record_head = 5;
constexpr std::size_t record_tail = 1 + EVP_GCM_TLS_TAG_LEN;
constexpr std::size_t most_content = SSL3_RT_MAX_PLAIN_LENGTH;
constexpr std::size_t most_sealed = most_content + 256;  ///< behind the head; with padding

/// How many bytes lie behind a record's head, as it says.
std::size_t sealed_bytes(std::span<const std::byte, record_head> head);

/// Encrypts or decrypts the records of one direction of TLS 1.3, from where their content lies to
/// where it is to be. OpenSSL's own records are copied twice at either end and once more on their
/// way to a socket, which took a third as long as the cipher itself (AES-128-GCM, 2.7 GB/s).
class TrafficKey {
 public:
  enum class Use : std::uint8_t { opens, seals };
  using Pieces = std::span<const std::span<const std::byte>>;

  /// `cipher`: AES-128-GCM or ChaCha20-Poly1305, the two that TlsContext allows; `secret`: of this
  /// direction. Throws std::runtime_error.
  TrafficKey(const EVP_CIPHER* cipher, Secret secret, Use use);

  /// Appends one record of this type (SSL3_RT_...) that holds the pieces, `most_content` bytes at
  /// most.
  void seal(std::uint8_t type, Pieces pieces, SealedBytes& out);

  struct Opened {
    std::uint8_t type;
    std::size_t bytes;  ///< of `out` are its content
  };
  /// A whole record, with its head; `out` has room for all of it but head and tail. Nothing: it is
  /// not the next that was sealed, and what is in `out` then is worth nothing.
  std::optional<Opened> open(std::span<const std::byte> record, std::span<std::byte> out);

  /// The next key of this direction (section 7.2).
  void renew();
  /// Sealed or opened with this one.
  std::uint64_t records() const { return number_; }

 private:
  static constexpr std::size_t nonce_bytes = 12;
  void derive();
  bool begin(std::span<const std::byte> head);
  bool update(const std::byte* from, std::size_t bytes, std::byte* to);

  const EVP_CIPHER* cipher_;
  Secret secret_;
  Use use_;
  OwnedCipher context_;
  std::array<unsigned char, nonce_bytes> nonce_{};  ///< of the record of number 0
  std::uint64_t number_ = 0;
};

}  // namespace gv
