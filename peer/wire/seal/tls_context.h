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

/// Frees what OpenSSL gave.
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

/// Returns what OpenSSL says of the last thing that failed in this thread; its list of errors is
/// empty then.
std::string openssl_error();
/// Throws std::runtime_error with `what` and OpenSSL's reason unless `done`.
void openssl_must(bool done, const char* what);

/// Whose certificate it says that it is: its only alternative name, a URI; nothing: it says none or
/// several. To be asked of one that an authority has signed.
std::optional<TlsIdentity> identity_of(const X509& certificate);

// A peer's keys as a file, FOLDER/peer-3.pem: its private key, its certificate and the authority's,
// in PEM, one after the other.

std::string key_file_name(PeerId id);

/// Writes each peer's keys into the folder, which is made if need be, for its owner's eyes only.
/// Throws std::runtime_error, and writes nothing, where one of the files is there already.
std::vector<std::string> write_key_files(const std::string& folder,
                                         const std::vector<PeerKeys>& keys);

/// Throws std::runtime_error with the path, what is wrong with the file and what to do: one that is
/// a link, that is not ours, that others may read, or that holds no keys.
PeerKeys read_key_file(const std::string& path);

/// Reads what peer `id` proves itself with from its file. Throws std::runtime_error also when the
/// keys are another peer's, or do not belong together.
std::shared_ptr<const TlsContext> context_of_file(const std::string& path, PeerId id);

/// The three parts of such a file, or of a text like it; `name` is that of the text in errors.
PeerKeys parse_keys(std::string_view text, const std::string& name);
Secret text_of(const PeerKeys& keys);

}  // namespace gv
