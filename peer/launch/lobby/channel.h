#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>

#include <asio/awaitable.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/posix/stream_descriptor.hpp>
#include <asio/ssl/context.hpp>
#include <asio/ssl/stream.hpp>
#include <asio/steady_timer.hpp>

#include "peer/fleet/json/json.h"
#include "peer/launch/lobby/join_code.h"
#include "peer/wire/seal/peer_keys.h"

namespace gv {

/// Time in which both ends of a new connection must have proved the code.
inline constexpr auto proof_patience = std::chrono::seconds(15);
/// Silence after which a connection between a lobby and a machine counts as lost.
inline constexpr auto lobby_leash = std::chrono::seconds(15);

/// A connection between a lobby and a machine that joins: TLS 1.3, in which each message is a
/// length (u32, little endian) and a JSON text of at most 64 KiB. The certificates are drawn for
/// the lobby's life and prove nothing by themselves: the code does (prove_to_lobby).
///
/// Every function that waits throws std::system_error if the connection fails or a deadline ends
/// it, and std::runtime_error if the other end breaks the protocol.
class LobbyChannel : public std::enable_shared_from_this<LobbyChannel> {
 public:
  static constexpr std::size_t most_message_bytes = std::size_t{64} << 10;

  LobbyChannel(asio::ip::tcp::socket socket, asio::ssl::context& context);

  /// Closes the connection unless the deadline is moved before `time` is over.
  void allow(std::chrono::steady_clock::duration time);
  bool timed_out() const { return timed_out_; }  ///< a deadline has closed the connection
  asio::awaitable<void> shake(asio::ssl::stream_base::handshake_type side);
  asio::awaitable<JsonValue> receive(std::size_t most_bytes = most_message_bytes);
  /// Sends one message; one at a time.
  asio::awaitable<void> send(const Json& message);

  /// Queues a message for keep_sending(). Closes the connection if 1 MiB waits already.
  void queue(const Json& message);
  /// Sends queued messages, and a ping every two seconds, until the connection ends.
  asio::awaitable<void> keep_sending();
  /// Passes bytes on in both directions until one end closes, then closes both.
  asio::awaitable<void> relay(asio::posix::stream_descriptor in,
                              asio::posix::stream_descriptor out);
  void close();

  /// Returns 32 bytes that only the two ends of this connection know (RFC 8446, section 7.5).
  std::string exporter();
  /// Returns the SHA-256 of the other end's certificate, "" if it showed none.
  std::string certificate_digest();
  /// Returns the other end's numeric address, also after the connection has ended.
  const std::string& address() const { return address_; }

 private:
  asio::awaitable<void> pass_on(asio::posix::stream_descriptor& in);
  asio::awaitable<void> fetch(asio::posix::stream_descriptor& out);
  asio::awaitable<void> fetch_then_close(asio::posix::stream_descriptor& out,
                                         asio::posix::stream_descriptor& in);

  asio::ssl::stream<asio::ip::tcp::socket> stream_;
  asio::steady_timer deadline_, wake_;
  std::string address_;
  std::deque<std::string> waiting_;
  std::size_t waiting_bytes_ = 0;
  bool timed_out_ = false;
};

/// Makes the TLS settings of a lobby, with a key and a certificate drawn now.
asio::ssl::context lobby_context();
/// Makes the TLS settings of a machine that joins. It accepts every certificate, because the code
/// proves the connection.
asio::ssl::context member_context();

/// Salt of stretch() for the secret of machines that come back.
inline constexpr std::string_view rejoin_salt = "grapevine lobby again";

/// Outcome of the proof: "" if the other end knows the code, else the reason.
using Proof = std::string;
/// Outcome of an attempt that JoinAttempts counts.
inline constexpr std::string_view wrong_code = "wrong code";
/// Proves to the lobby that we know the code, and lets it prove the same. `stretched`: see
/// stretch(); `again`: it is that of a machine that comes back (rejoin_salt). The exchange is bound
/// to this TLS connection, so a man in the middle with a TLS connection to each end cannot pass it
/// on.
asio::awaitable<Proof> prove_to_lobby(LobbyChannel& channel, const Secret& stretched, bool again);
/// The lobby's side; `first` is the other end's first message. Sends the other end a refusal. The
/// other end proves first, so a guesser learns nothing that is not counted. `attempts`: null for a
/// secret that is too long to guess, so that guessers do not keep machines out that come back.
asio::awaitable<Proof> prove_to_member(LobbyChannel& channel,
                                       const Secret& stretched,
                                       const JsonValue& first,
                                       JoinAttempts* attempts);

}  // namespace gv
