#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "peer/wire/seal/tls_context.h"

struct ssl_st;

namespace gv {

/// One end of a TLS connection as a state machine without a socket: bytes of the stream go in and
/// come out, in any pieces. So nothing here waits, and the owner of the socket decides how much of
/// a stranger's data is read, and how many records go out with one system call. OpenSSL implements
/// the protocol, handshake and records alike.
/// Invariant: no byte of the other end is returned before that end has proved to be a peer of our
/// fleet that `fits`.
///
///   shaking --its certificate and its Finished fit--> secured
///   shaking, secured --anything wrong---------------> broken
class TlsSession {
 public:
  enum class State : std::uint8_t { shaking, secured, broken };
  /// The end that made the connection sends first.
  enum class Role : std::uint8_t { dials, is_dialled };

  /// Maximum number of records with one key; write() then changes the key, since OpenSSL 3.0 does
  /// not count. AES-128-GCM is safe for 2^24.5 full records with one key (RFC 8446, section 5.5).
  static constexpr std::uint64_t most_records_of_key = std::uint64_t{1} << 23;

  /// `fits`: returns why this peer of our fleet may not be at the other end, or "" if it may.
  TlsSession(std::shared_ptr<const TlsContext> context,
             Role role,
             std::function<std::string(PeerId)> fits,
             std::uint64_t records_of_key = most_records_of_key);
  ~TlsSession();
  TlsSession(const TlsSession&) = delete;
  TlsSession& operator=(const TlsSession&) = delete;

  State state() const { return state_; }
  /// Returns why the session is broken, for the log; contains no text of the other end.
  const std::string& why() const { return why_; }
  /// Returns the proved identity of the other end; while secured.
  PeerId peer() const { return peer_; }
  /// Returns 32 bytes that only the two ends of this connection know, unique to it: the exporter
  /// (RFC 8446, section 7.5); while secured.
  const std::string& channel() const { return channel_; }

  /// Returns the space for the next bytes of the stream; filled() reports how many were put there.
  /// Call read() until it returns nothing before adding more.
  std::span<std::byte> space();
  std::span<const std::byte> came() const { return {incoming_.data() + used_, filled_ - used_}; }
  void filled(std::size_t bytes);
  /// Continues the handshake; there may be output to send afterwards.
  void shake();
  /// Fills `out` with available bytes and returns their number; may overwrite the rest of `out`.
  /// Only while secured.
  std::size_t read(std::span<std::byte> out);

  /// Encrypts the pieces in sequence, in records as full as possible. Only while secured.
  void write(std::span<const std::span<const std::byte>> pieces);
  /// Announces the end of our data to the other end; once, and only while secured.
  void say_farewell();
  /// Returns whether the other end has announced its end, and read() has returned all its data.
  /// Bytes that follow are ignored.
  bool ended() const { return ended_; }
  /// Returns whether there are bytes to send, see take_output().
  bool has_output() const { return !outgoing_.empty(); }
  std::vector<std::byte> take_output(std::vector<std::byte> empty);

  // Callbacks for OpenSSL.
  int give(char* to, int most);
  int take(const char* from, int bytes);
  bool judge(bool chain_fits, void* store);

 private:
  void secure();
  void write_records(std::span<const std::byte> bytes);
  void read_failed(int result);
  void fail(const std::string& why);

  std::shared_ptr<const TlsContext> context_;
  std::function<std::string(PeerId)> fits_;
  ssl_st* ssl_ = nullptr;
  State state_ = State::shaking;
  std::string why_;
  std::string judgement_;  ///< objection to the other end's certificate, or ""
  PeerId peer_ = 0;
  std::string channel_;
  bool said_farewell_ = false;
  bool ended_ = false;                  ///< the other end has announced its end
  std::uint64_t records_of_key_;        ///< number of records after which the key changes
  std::uint64_t records_ = 0;           ///< records written with the current key
  std::vector<std::byte> half_record_;  ///< pieces too small to fill a record
  std::vector<std::byte> incoming_;
  std::size_t used_ = 0, filled_ = 0;  ///< range of incoming_ still to be decrypted
  std::vector<std::byte> outgoing_;
};

/// Returns whether a stream that begins with this byte is TLS, and not plain frames.
constexpr bool begins_tls(std::byte first) {
  return first == std::byte{0x16};  // handshake record: RFC 8446, section 5.1
}

}  // namespace gv
