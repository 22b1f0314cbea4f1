#include "peer/launch/lobby/channel.h"

#include <array>
#include <cmath>
#include <stdexcept>
#include <utility>

#include <asio/buffer.hpp>
#include <asio/co_spawn.hpp>
#include <asio/detached.hpp>
#include <asio/experimental/awaitable_operators.hpp>
#include <asio/read.hpp>
#include <asio/use_awaitable.hpp>
#include <asio/write.hpp>
#include <fmt/format.h>

#include "optim/printable.h"
#include "peer/wire/seal/spake2.h"
#include "peer/wire/seal/tls_context.h"
#include "peer/wire/tcp/connecting.h"

namespace gv {
namespace {

using namespace asio::experimental::awaitable_operators;
using Length = std::array<unsigned char, 4>;

constexpr auto between_pings = std::chrono::seconds(2);
constexpr std::size_t most_waiting_bytes = std::size_t{1} << 20;
constexpr std::size_t relay_bytes = std::size_t{64} << 10;
constexpr std::size_t most_proof_bytes = 1024;
constexpr auto farewell_patience = std::chrono::seconds(10);

std::string framed(const std::string& text) {
  std::string bytes;
  for (unsigned shift = 0; shift < 32; shift += 8)
    bytes += static_cast<char>(static_cast<unsigned char>(text.size() >> shift));
  return bytes + text;
}

std::size_t length_of(const Length& bytes) {
  std::size_t length = 0;
  for (std::size_t k = 0; k < bytes.size(); ++k) length |= std::size_t{bytes[k]} << (8 * k);
  return length;
}

std::string hex(std::string_view bytes) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string text;
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    text += digits[byte >> 4];
    text += digits[byte & 15];
  }
  return text;
}

/// Returns nothing if the text is not hexadecimal.
std::optional<std::string> unhex(std::string_view text) {
  constexpr std::string_view digits = "0123456789abcdef";
  if (text.size() % 2 != 0) return std::nullopt;
  std::string bytes;
  for (std::size_t k = 0; k < text.size(); k += 2) {
    const std::size_t high = digits.find(text[k]), low = digits.find(text[k + 1]);
    if (high == digits.npos || low == digits.npos) return std::nullopt;
    bytes += static_cast<char>(static_cast<unsigned char>(high << 4 | low));
  }
  return bytes;
}

/// Returns the bytes of a member in hexadecimal, "" if it has none.
std::string bytes_in(const JsonValue& message, const char* key) {
  const JsonValue* const value = message.find(key);
  return value == nullptr ? "" : unhex(value->text).value_or("");
}

/// Returns the other end's refusal, printable, or "".
std::string refusal_in(const JsonValue& message) {
  const JsonValue* const error = message.find("error");
  return error == nullptr ? "" : printable(error->text, 300);
}

/// Made outside of coroutines, in which GCC 12 takes no lists of members.
Json message(const char* key, const std::string& text) {
  return Json{{key, text}};
}

/// Judges a proof in one step with the count of attempts, so that no two connections test a code
/// at the price of one.
Proof judged(const Spake2& spake,
             const std::string& proof,
             const std::string& address,
             JoinAttempts* attempts) {
  if (attempts == nullptr) return spake.fits(proof) ? "" : "this is not the lobby that it was in";
  const std::string source = attempt_source(address);
  const Time now =
      std::chrono::duration_cast<Time>(std::chrono::steady_clock::now().time_since_epoch());
  if (const std::optional<Time> wait = attempts->wait(source, now))
    return fmt::format("too many wrong codes; the next try is in {:.0f} s",
                       std::ceil(std::chrono::duration<double>(*wait).count()));
  if (!spake.fits(proof)) {
    attempts->failed(source, now);
    return std::string(wrong_code);
  }
  attempts->succeeded(source);
  return "";
}

/// Returns the other end's numeric address, "" if it has hung up already.
std::string address_of(const asio::ip::tcp::socket::lowest_layer_type& socket) {
  asio::error_code error;
  const asio::ip::address address = socket.remote_endpoint(error).address();
  if (error) return "";
  if (!address.is_v6() || !address.to_v6().is_v4_mapped()) return address.to_string();
  return asio::ip::make_address_v4(asio::ip::v4_mapped, address.to_v6()).to_string();
}

asio::ssl::context tls13() {
  asio::ssl::context context(asio::ssl::context::tls);
  ::SSL_CTX_set_min_proto_version(context.native_handle(), TLS1_3_VERSION);
  ::SSL_CTX_set_num_tickets(context.native_handle(), 0);
  return context;
}

}  // namespace

LobbyChannel::LobbyChannel(asio::ip::tcp::socket socket, asio::ssl::context& context)
    : stream_(std::move(socket), context),
      deadline_(stream_.get_executor()),
      wake_(stream_.get_executor()),
      address_(address_of(stream_.lowest_layer())) {
  asio::error_code ignored;
  stream_.lowest_layer().set_option(asio::ip::tcp::no_delay(true), ignored);
}

void LobbyChannel::allow(std::chrono::steady_clock::duration time) {
  deadline_.expires_after(time);
  deadline_.async_wait([weak = weak_from_this()](const asio::error_code& error) {
    const auto self = weak.lock();
    if (!self || error || self->deadline_.expiry() > std::chrono::steady_clock::now()) return;
    self->timed_out_ = true;
    self->close();
  });
}

void LobbyChannel::close() {
  asio::error_code ignored;
  stream_.lowest_layer().close(ignored);
  deadline_.cancel();
  wake_.cancel();
}

asio::awaitable<void> LobbyChannel::shake(asio::ssl::stream_base::handshake_type side) {
  co_await stream_.async_handshake(side, asio::use_awaitable);
}

asio::awaitable<JsonValue> LobbyChannel::receive(std::size_t most_bytes) {
  Length length{};
  co_await asio::async_read(stream_, asio::buffer(length), asio::use_awaitable);
  if (length_of(length) > most_bytes)
    throw std::runtime_error(fmt::format("a message of more than {} bytes", most_bytes));
  std::string text(length_of(length), '\0');
  co_await asio::async_read(stream_, asio::buffer(text), asio::use_awaitable);
  co_return parse_json(text, "a message of a lobby");
}

asio::awaitable<void> LobbyChannel::send(const Json& message) {
  const std::string bytes = framed(message.dump());
  co_await asio::async_write(stream_, asio::buffer(bytes), asio::use_awaitable);
}

void LobbyChannel::queue(const Json& message) {
  std::string bytes = framed(message.dump());
  waiting_bytes_ += bytes.size();
  if (waiting_bytes_ > most_waiting_bytes) return close();
  waiting_.push_back(std::move(bytes));
  wake_.cancel();
}

asio::awaitable<void> LobbyChannel::keep_sending() {
  const auto self = shared_from_this();
  while (stream_.lowest_layer().is_open()) {
    if (waiting_.empty()) {
      wake_.expires_after(between_pings);
      const auto [early] = co_await wake_.async_wait(as_result);
      if (!early) queue(Json::object());
      continue;
    }
    const std::string bytes = std::move(waiting_.front());
    waiting_.pop_front();
    waiting_bytes_ -= bytes.size();
    const auto [error, sent] = co_await asio::async_write(stream_, asio::buffer(bytes), as_result);
    if (error) close();
  }
}

/// Leaves the other end time to send what it still has.
asio::awaitable<void> LobbyChannel::pass_on(asio::posix::stream_descriptor& in) {
  std::string bytes(relay_bytes, '\0');
  for (bool lost = false; !lost;) {
    const auto [ended, count] = co_await in.async_read_some(asio::buffer(bytes), as_result);
    if (ended) break;
    const auto [error, sent] =
        co_await asio::async_write(stream_, asio::buffer(bytes, count), as_result);
    lost = static_cast<bool>(error);
  }
  asio::error_code ignored;
  stream_.lowest_layer().shutdown(asio::ip::tcp::socket::shutdown_send, ignored);
  allow(farewell_patience);
}

asio::awaitable<void> LobbyChannel::fetch(asio::posix::stream_descriptor& out) {
  std::string bytes(relay_bytes, '\0');
  for (bool ended = false; !ended;) {
    const auto [lost, count] = co_await stream_.async_read_some(asio::buffer(bytes), as_result);
    if (lost) break;
    const auto [error, taken] =
        co_await asio::async_write(out, asio::buffer(bytes, count), as_result);
    ended = static_cast<bool>(error);
  }
}

asio::awaitable<void> LobbyChannel::fetch_then_close(asio::posix::stream_descriptor& out,
                                                     asio::posix::stream_descriptor& in) {
  co_await fetch(out);
  asio::error_code ignored;
  out.close(ignored);
  in.close(ignored);
}

asio::awaitable<void> LobbyChannel::relay(asio::posix::stream_descriptor in,
                                          asio::posix::stream_descriptor out) {
  const auto self = shared_from_this();
  deadline_.cancel();
  co_await (pass_on(in) && fetch_then_close(out, in));
  close();
}

std::string LobbyChannel::exporter() {
  std::string bytes(32, '\0');
  constexpr std::string_view label = "EXPORTER-grapevine-lobby";
  openssl_must(::SSL_export_keying_material(
                   stream_.native_handle(), reinterpret_cast<unsigned char*>(bytes.data()),
                   bytes.size(), label.data(), label.size(), nullptr, 0, 0) == 1,
               "no key material of a TLS connection");
  return bytes;
}

std::string LobbyChannel::certificate_digest() {
  const OwnedCertificate shown(::SSL_get1_peer_certificate(stream_.native_handle()));
  if (!shown) return "";
  std::string digest(32, '\0');
  unsigned length = 0;
  openssl_must(::X509_digest(shown.get(), ::EVP_sha256(),
                             reinterpret_cast<unsigned char*>(digest.data()), &length) == 1,
               "no digest of a certificate");
  return digest;
}

asio::ssl::context lobby_context() {
  asio::ssl::context context = tls13();
  const PeerKeys keys = make_keys(1).front();
  context.use_certificate(asio::buffer(keys.certificate), asio::ssl::context::pem);
  context.use_private_key(asio::buffer(keys.key), asio::ssl::context::pem);
  return context;
}

asio::ssl::context member_context() {
  asio::ssl::context context = tls13();
  context.set_verify_mode(asio::ssl::verify_none);
  return context;
}

asio::awaitable<Proof> prove_to_lobby(LobbyChannel& channel, const Secret& stretched, bool again) {
  Spake2 spake(Spake2::Side::joins, stretched, channel.exporter());
  Json first = message("share", hex(spake.share()));
  if (again) first["again"] = true;
  co_await channel.send(first);
  const JsonValue answer = co_await channel.receive();
  if (const std::string refusal = refusal_in(answer); !refusal.empty()) co_return refusal;
  if (!spake.take(bytes_in(answer, "share"))) co_return "the lobby breaks the protocol of the code";
  co_await channel.send(message("proof", hex(spake.proof())));
  const JsonValue last = co_await channel.receive();
  if (const std::string refusal = refusal_in(last); refusal == wrong_code)
    co_return "wrong code; if it is right, another machine is between this one and the lobby";
  else if (!refusal.empty())
    co_return refusal;
  if (!spake.fits(bytes_in(last, "proof")))
    co_return "the other end does not know the code, and is not the lobby that you mean";
  co_return "";
}

asio::awaitable<Proof> prove_to_member(LobbyChannel& channel,
                                       const Secret& stretched,
                                       const JsonValue& first,
                                       JoinAttempts* attempts) {
  Spake2 spake(Spake2::Side::lobby, stretched, channel.exporter());
  if (!spake.take(bytes_in(first, "share"))) co_return "breaks the protocol of the code";
  co_await channel.send(message("share", hex(spake.share())));
  const JsonValue answer = co_await channel.receive(most_proof_bytes);
  const Proof outcome = judged(spake, bytes_in(answer, "proof"), channel.address(), attempts);
  if (!outcome.empty()) {
    co_await channel.send(message("error", outcome));
    co_return outcome;
  }
  co_await channel.send(message("proof", hex(spake.proof())));
  co_return "";
}

}  // namespace gv
