#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "peer/wire/seal/tls_context.h"

// Two ends of a TLS connection without a socket.

namespace gv {

inline std::string anybody(PeerId) {
  return "";
}

inline std::span<const std::byte> bytes_of(const std::string& text) {
  return std::as_bytes(std::span(text));
}

/// Sends `text` over a secured session.
inline void say(TlsSession& from, const std::string& text) {
  const std::span<const std::byte> piece = bytes_of(text);
  from.write({&piece, 1});
}

/// Carries the output of `from` to `to`, in pieces of at most `piece` bytes. Returns the text that
/// `to` could read.
inline std::string carry(TlsSession& from, TlsSession& to, std::size_t piece = 1 << 20) {
  std::string read;
  const std::vector<std::byte> all = from.take_output({});
  for (std::size_t at = 0; at < all.size() && to.state() != TlsSession::State::broken;) {
    const std::span<std::byte> space = to.space();
    const std::size_t count = std::min({piece, space.size(), all.size() - at});
    std::copy_n(all.data() + at, count, space.data());
    at += count;
    to.filled(count);
    to.shake();
    std::vector<std::byte> out(5000);
    for (std::size_t some = out.size(); some == out.size();) {
      some = to.read(out);
      read.append(reinterpret_cast<const char*>(out.data()), some);
    }
  }
  return read;
}

/// A peer that dials another one.
struct TlsPair {
  TlsPair(const PeerKeys& dialling,
          const PeerKeys& dialled,
          std::function<std::string(PeerId)> fits_dialled = anybody,
          std::function<std::string(PeerId)> fits_dialling = anybody)
      : dials(std::make_shared<TlsContext>(dialling), TlsSession::Role::dials, fits_dialled),
        is_dialled(
            std::make_shared<TlsContext>(dialled), TlsSession::Role::is_dialled, fits_dialling) {}

  /// Shakes hands until neither side has output.
  void shake(std::size_t piece = 1 << 20) {
    dials.shake();
    while (dials.has_output() || is_dialled.has_output()) {
      carry(dials, is_dialled, piece);
      carry(is_dialled, dials, piece);
    }
  }
  bool secured() const {
    return dials.state() == TlsSession::State::secured &&
           is_dialled.state() == TlsSession::State::secured;
  }
  bool broken() const {
    return dials.state() == TlsSession::State::broken ||
           is_dialled.state() == TlsSession::State::broken;
  }

  TlsSession dials, is_dialled;
};

}  // namespace gv
