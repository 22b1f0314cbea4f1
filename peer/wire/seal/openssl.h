#pragma once

#include <memory>
#include <string>

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

namespace gv {

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

}  // namespace gv
