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

/// One end of a TLS connection as a machine without a socket: bytes of the stream go in and come
/// out, in whatever pieces. So nothing here waits, and whoever has the socket decides how much of a
/// stranger's is read and how many records go out by one call of the system. The protocol is
/// OpenSSL's, handshake and records alike.
/// Invariant: not a byte of what the other end says is given out before it has proved to be a peer
/// of our fleet that `fits`.
///
///   shaking --its certificate and its Finished fit--> secured
///   shaking, secured --anything wrong---------------> broken
class TlsSession {
 public:
  enum class State : std::uint8_t { shaking, secured, broken };
  /// The end that has made the connection speaks first.
  enum class Role : std::uint8_t { dials, is_dialled };

  /// AES-128-GCM with one key is good for 2^24.5 full records (RFC 8446, section 5.5). OpenSSL 3.0
  /// does not count them, so write() takes a new key after so many.
  static constexpr std::uint64_t most_records_of_key = std::uint64_t{1} << 23;

  /// `fits`: why this peer of our fleet may not be at the other end; "": it may.
  TlsSession(std::shared_ptr<const TlsContext> context,
             Role role,
             std::function<std::string(PeerId)> fits,
             std::uint64_t records_of_key = most_records_of_key);
  ~TlsSession();
  TlsSession(const TlsSession&) = delete;
  TlsSession& operator=(const TlsSession&) = delete;

  State state() const { return state_; }
  /// Says why it is broken, in words for the log; nothing of what a stranger said is in them.
  const std::string& why() const { return why_; }
  /// Whom the other end has proved to be; while secured.
  PeerId peer() const { return peer_; }
  /// Returns what both ends, and nobody else, know of this connection, and no other one has: 32
  /// bytes of the exporter (RFC 8446, section 7.5); while secured.
  const std::string& channel() const { return channel_; }

  /// Returns where the next bytes of the stream go; filled() says how many were put there. Read
  /// until nothing comes before there are more.
  std::span<std::byte> space();
  std::span<const std::byte> came() const { return {incoming_.data() + used_, filled_ - used_}; }
  void filled(std::size_t bytes);
  /// Goes on shaking hands; ours to send may follow.
  void shake();
  /// Fills `out` as far as there is anything; how many bytes, and what is behind them may have been
  /// written on. Only while secured.
  std::size_t read(std::span<std::byte> out);

  /// Encrypts the pieces one after the other, in records that are as full as can be. Only while
  /// secured.
  void write(std::span<const std::span<const std::byte>> pieces);
  /// Says to the other end that nothing more will come from us; once, and only while secured.
  void say_farewell();
  /// Returns whether the other end has said so, and read() has given out all that it said before:
  /// nothing behind it is believed.
  bool ended() const { return ended_; }
  /// Returns whether something is to be sent; take_output() hands it over.
  bool has_output() const { return !outgoing_.empty(); }
  std::vector<std::byte> take_output(std::vector<std::byte> empty);

  // What OpenSSL calls.
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
  std::string judgement_;  ///< of the other end's certificate; "": it fits, or has not come
  PeerId peer_ = 0;
  std::string channel_;
  bool said_farewell_ = false;
  bool ended_ = false;                  ///< the other end has said it
  std::uint64_t records_of_key_;        ///< after so many comes a new one
  std::uint64_t records_ = 0;           ///< that were written with the present key
  std::vector<std::byte> half_record_;  ///< pieces that do not fill a record by themselves
  std::vector<std::byte> incoming_;
  std::size_t used_ = 0, filled_ = 0;  ///< of incoming_
  std::vector<std::byte> outgoing_;
};

/// Returns whether a stream that begins with this byte is one of TLS, and not of plain frames.
constexpr bool begins_tls(std::byte first) {
  return first == std::byte{0x16};  // a handshake: RFC 8446, section 5.1
}

}  // namespace gv
