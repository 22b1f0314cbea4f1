#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include "peer/wire/seal/peer_keys.h"

struct ssl_ctx_st;

namespace gv {

/// The part that a peer's TLS sessions share: its key, the trusted authority, and fixed settings.
/// TLS 1.3 (RFC 8446) with AES-128-GCM, or ChaCha20-Poly1305 if the other end has no AES
/// instructions; X25519; Ed25519. Both ends show certificates. No tickets, resumption or early
/// data, so that recorded traffic cannot be replayed. Immutable once made: sessions of several
/// threads may share it.
class TlsContext {
 public:
  /// Throws std::runtime_error if the keys are invalid or do not belong together.
  explicit TlsContext(const PeerKeys& keys);
  ~TlsContext();
  TlsContext(const TlsContext&) = delete;
  TlsContext& operator=(const TlsContext&) = delete;

  const TlsIdentity& identity() const { return identity_; }  ///< our own identity
  ssl_ctx_st* get() const { return context_; }

 private:
  ssl_ctx_st* context_;
  TlsIdentity identity_;
};

/// Returns the version of OpenSSL in use, such as "3.0.19".
std::string openssl_version();

/// Frees an object of OpenSSL.
template <auto release>
struct Released {
  template <class T>
  void operator()(T* it) const {
    release(it);
  }
};
using OwnedKey = std::unique_ptr<EVP_PKEY, Released<EVP_PKEY_free>>;
using OwnedKeyContext = std::unique_ptr<EVP_PKEY_CTX, Released<EVP_PKEY_CTX_free>>;
using OwnedCertificate = std::unique_ptr<X509, Released<X509_free>>;
using OwnedExtension = std::unique_ptr<X509_EXTENSION, Released<X509_EXTENSION_free>>;
using OwnedNames = std::unique_ptr<GENERAL_NAMES, Released<GENERAL_NAMES_free>>;
using OwnedBio = std::unique_ptr<BIO, Released<BIO_free_all>>;
using OwnedCipher = std::unique_ptr<EVP_CIPHER_CTX, Released<EVP_CIPHER_CTX_free>>;
using OwnedContext = std::unique_ptr<SSL_CTX, Released<SSL_CTX_free>>;

/// Returns OpenSSL's text for this thread's last error, and clears its list of errors.
std::string openssl_error();
/// Throws std::runtime_error with `what` and OpenSSL's reason unless `done`.
void openssl_must(bool done, const char* what);

/// Returns the owner named in a certificate, its only alternative name, a URI; nothing if it has
/// none or several. The certificate must be signed by a trusted authority.
std::optional<TlsIdentity> identity_of(const X509& certificate);

// A peer's key file, FOLDER/peer-3.pem: its private key, its certificate and the authority's, in
// PEM, in this order.

std::string key_file_name(PeerId id);

/// Writes each peer's keys into the folder, which is created if necessary, readable by its owner
/// only. Throws std::runtime_error, and writes nothing, if one of the files exists.
std::vector<std::string> write_key_files(const std::string& folder,
                                         const std::vector<PeerKeys>& keys);

/// Reads a key file. Throws std::runtime_error with the path, the error and a remedy if it is a
/// link, belongs to another user, is readable by others, or holds no keys.
PeerKeys read_key_file(const std::string& path);

/// Makes the context of peer `id` from its key file. Throws std::runtime_error also if the keys are
/// another peer's or do not belong together.
std::shared_ptr<const TlsContext> context_of_file(const std::string& path, PeerId id);

/// Parses the three parts of a key file's text; `name` names the text in errors.
PeerKeys parse_keys(std::string_view text, const std::string& name);
Secret text_of(const PeerKeys& keys);

/// State of a fleet's key files on this machine.
struct KeyCheck {
  std::vector<PeerId> good;           ///< peers with a valid file; ascending
  std::vector<PeerId> missing;        ///< peers without a file
  std::string fleet;                  ///< fleet of the good files, 32 hex digits; or ""
  std::vector<std::string> findings;  ///< errors, each with a remedy
};

/// Reads FOLDER/peer-I.pem of peers 0 .. n - 1 as `grapevine peer` does. These files are findings:
/// a link, another user's file, one that others may read, one without keys, keys of another peer,
/// keys of a fleet other than the first good file's, or an expired certificate. A missing file is
/// no finding, because each machine has only the files of its own peers.
KeyCheck check_key_files(const std::string& folder, PeerId n);

}  // namespace gv
