#include "peer/wire/seal/tls_context.h"

#include <stdexcept>
#include <string_view>

#include <openssl/crypto.h>
#include <openssl/pem.h>

#include "peer/wire/seal/certificate_identity.h"
#include "peer/wire/seal/openssl.h"

namespace gv {
namespace {

/// Files of this machine's OpenSSL, which may weaken what is set here, are not read.
void begin_openssl() {
  openssl_must(OPENSSL_init_ssl(OPENSSL_INIT_NO_LOAD_CONFIG, nullptr) == 1, "its start");
}

OwnedBio text_bio(std::string_view text) {
  return OwnedBio(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
}

OwnedCertificate certificate_in(const std::string& text) {
  OwnedCertificate certificate(PEM_read_bio_X509(text_bio(text).get(), nullptr, nullptr, nullptr));
  openssl_must(certificate != nullptr, "a certificate cannot be read");
  return certificate;
}

/// Nobody is asked for a password.
int no_password(char*, int, int, void*) {
  return 0;
}

OwnedKey key_in(std::string_view text) {
  OwnedKey key(PEM_read_bio_PrivateKey(text_bio(text).get(), nullptr, no_password, nullptr));
  openssl_must(key != nullptr, "a key cannot be read");
  return key;
}

void fix_protocol(SSL_CTX* context) {
  openssl_must(SSL_CTX_set_min_proto_version(context, TLS1_3_VERSION) == 1 &&
                   SSL_CTX_set_max_proto_version(context, TLS1_3_VERSION) == 1,
               "TLS 1.3");
  openssl_must(
      SSL_CTX_set_ciphersuites(context, "TLS_AES_128_GCM_SHA256:TLS_CHACHA20_POLY1305_SHA256") == 1,
      "ciphers");
  openssl_must(SSL_CTX_set1_groups_list(context, "X25519") == 1, "X25519");
  openssl_must(SSL_CTX_set1_sigalgs_list(context, "ed25519") == 1, "Ed25519");
  SSL_CTX_set_options(context, SSL_OP_NO_TICKET | SSL_OP_NO_RENEGOTIATION);
  SSL_CTX_set_num_tickets(context, 0);
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
  SSL_CTX_set_max_early_data(context, 0);
  SSL_CTX_set_recv_max_early_data(context, 0);
}

void show_and_ask(SSL_CTX* context, const PeerKeys& keys) {
  const OwnedKey key = key_in(keys.key);
  const OwnedCertificate own = certificate_in(keys.certificate);
  const OwnedCertificate authority = certificate_in(keys.authority);
  openssl_must(SSL_CTX_use_certificate(context, own.get()) == 1, "the certificate");
  openssl_must(SSL_CTX_use_PrivateKey(context, key.get()) == 1, "the key is not the certificate's");
  X509_STORE* const store = SSL_CTX_get_cert_store(context);
  openssl_must(X509_STORE_add_cert(store, authority.get()) == 1, "the authority");
  X509_STORE_set_flags(store, X509_V_FLAG_X509_STRICT);
  openssl_must(X509_verify(own.get(), X509_get0_pubkey(authority.get())) == 1,
               "the certificate is not this authority's");
  SSL_CTX_set_verify(context, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);
  SSL_CTX_set_verify_depth(context, 0);
}

}  // namespace

TlsContext::TlsContext(const PeerKeys& keys) {
  begin_openssl();
  OwnedContext context(SSL_CTX_new(TLS_method()));
  openssl_must(context != nullptr, "a context");
  fix_protocol(context.get());
  show_and_ask(context.get(), keys);
  const auto own = identity_of(*SSL_CTX_get0_certificate(context.get()));
  if (!own) throw std::runtime_error("the certificate names no peer");
  identity_ = *own;
  context_ = context.release();
}

TlsContext::~TlsContext() {
  SSL_CTX_free(context_);
}

std::string openssl_version() {
  return OpenSSL_version(OPENSSL_VERSION_STRING);
}

}  // namespace gv
