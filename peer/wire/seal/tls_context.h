#pragma once

#include <memory>
#include <string>

#include "peer/wire/seal/peer_keys.h"

struct ssl_ctx_st;

namespace gv {

/// The part that a peer's TLS sessions share: its key, whom it believes, and nothing to choose. TLS
/// 1.3 (RFC 8446) with AES-128-GCM, or ChaCha20-Poly1305 where the other end has no AES
/// instructions; X25519; Ed25519. Both ends show certificates. No tickets, no resumption and no
/// early data, so that nothing that was recorded can be played again. Immutable once made: sessions
/// of several threads may share it.
class TlsContext {
 public:
  /// Throws std::runtime_error when the keys are none, or do not belong together.
  explicit TlsContext(const PeerKeys& keys);
  ~TlsContext();
  TlsContext(const TlsContext&) = delete;
  TlsContext& operator=(const TlsContext&) = delete;

  const TlsIdentity& identity() const { return identity_; }  ///< ours
  ssl_ctx_st* get() const { return context_; }

 private:
  ssl_ctx_st* context_;
  TlsIdentity identity_;
};

/// Returns the version of the OpenSSL that runs, such as "3.0.19".
std::string openssl_version();

}  // namespace gv
