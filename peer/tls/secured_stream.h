#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "peer/tls/traffic_key.h"

namespace gv {

/// A connection of TLS 1.3 behind its handshake: bytes become records, and records bytes. Of what
/// may come besides bytes there is little: the other end takes a new key, says farewell, or says
/// what is wrong.
/// Invariant: no byte is given out of a record that the other end has not sealed as the next one;
/// and nothing after one that it has not.
class SecuredStream {
 public:
  /// AES-128-GCM with one key is good for 2^24.5 full records (RFC 8446, section 5.5); OpenSSL 3.0
  /// does not count them.
  static constexpr std::uint64_t most_records_of_key = std::uint64_t{1} << 23;

  /// The secrets of the two directions. Throws std::runtime_error.
  SecuredStream(const EVP_CIPHER* cipher,
                Secret ours,
                Secret theirs,
                std::uint64_t records_of_key = most_records_of_key);

  /// Fills `out` as far as there are whole records in `sealed`, which loses those at its front
  /// that were used. What is behind the bytes that are given out may have been written on.
  std::size_t read(std::span<const std::byte>& sealed, std::span<std::byte> out);
  /// Why nothing more can be read; "": nothing is wrong.
  const std::string& why() const { return why_; }

  /// Appends the pieces one after the other, in records that are as full as can be.
  void write(TrafficKey::Pieces pieces, SealedBytes& out);
  /// Appends the last words to an end that sent what cannot be read.
  void write_alert(SealedBytes& out);
  /// Appends that nothing more will come from us (RFC 8446, section 6.1).
  void write_farewell(SealedBytes& out);
  /// Whether the other end has said so, and all that it had said before has been given out.
  bool ended() const { return farewell_ && rest_.empty(); }

 private:
  std::size_t give_rest(std::span<std::byte> out);
  std::size_t take(std::span<const std::byte> record, std::span<std::byte> out);
  void heed(std::uint8_t type, std::span<const std::byte> content);
  void heed_alert(std::uint8_t description);
  void take_new_key(SealedBytes& out);
  void write_record(SealedBytes& out);

  TrafficKey ours_, theirs_;
  std::uint64_t records_of_key_;
  bool new_key_wanted_ = false;  ///< of us, by the other end
  bool farewell_ = false;        ///< it has said it
  std::string why_;
  std::vector<std::span<const std::byte>> content_;  ///< of the next record
  std::vector<std::byte> opened_;  ///< a record that had no room where it was to be
  std::span<const std::byte> rest_;
};

}  // namespace gv
