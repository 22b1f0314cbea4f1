#pragma once

#include <csignal>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "peer/wire/seal/peer_keys.h"

namespace gv {

/// A client with OpenSSL of its own, which accepts every certificate and waits for every answer. If
/// the port is closed, it does nothing.
class TlsClient {
 public:
  /// Shows `keys`, or no certificate if null. `version` is the newest TLS version that it offers.
  TlsClient(std::uint16_t port, const PeerKeys* keys, int version = TLS1_3_VERSION)
      : context_(SSL_CTX_new(TLS_client_method())), socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
    std::signal(SIGPIPE, SIG_IGN);  // OpenSSL may write to a closed connection
    // The kernel still accepts connections for a finished peer, which never answers.
    const timeval patience{.tv_sec = 10, .tv_usec = 0};
    ::setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    SSL_CTX_set_security_level(context_, 0);
    SSL_CTX_set_max_proto_version(context_, version);
    if (keys != nullptr) show(*keys);
    ssl_ = SSL_new(context_);
    sockaddr_in there{};
    there.sin_family = AF_INET;
    there.sin_port = htons(port);
    there.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (::connect(socket_, reinterpret_cast<const sockaddr*>(&there), sizeof there) != 0) return;
    SSL_set_fd(ssl_, socket_);
    connected_ = true;
  }
  ~TlsClient() {
    SSL_free(ssl_);
    SSL_CTX_free(context_);
    ::close(socket_);
  }
  TlsClient(const TlsClient&) = delete;
  TlsClient& operator=(const TlsClient&) = delete;

  bool shake() { return connected_ && SSL_connect(ssl_) == 1; }
  void say(std::span<const std::byte> bytes) {
    SSL_write(ssl_, bytes.data(), static_cast<int>(bytes.size()));
  }
  /// Announces that no more data come; the connection stays.
  void say_farewell() { SSL_shutdown(ssl_); }
  bool heard_farewell() const { return (SSL_get_shutdown(ssl_) & SSL_RECEIVED_SHUTDOWN) != 0; }
  void say_plainly(std::span<const std::byte> bytes) {
    plain_ = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
  }
  /// Returns the number of bytes received until the peer hung up.
  std::size_t heard() {
    std::size_t all = 0;
    std::vector<char> some(4096);
    for (int count = 1; count > 0;) {
      count = SSL_read(ssl_, some.data(), static_cast<int>(some.size()));
      if (count > 0) all += static_cast<std::size_t>(count);
    }
    return all;
  }
  std::string channel() {
    std::string bytes(32, '\0');
    const char* label = "EXPORTER-grapevine-hello";
    SSL_export_keying_material(ssl_, reinterpret_cast<unsigned char*>(bytes.data()), bytes.size(),
                               label, std::strlen(label), nullptr, 0, 0);
    return bytes;
  }

 private:
  void show(const PeerKeys& keys) {
    BIO* certificate = BIO_new_mem_buf(keys.certificate.data(), -1);
    BIO* key = BIO_new_mem_buf(keys.key.data(), -1);
    X509* x = PEM_read_bio_X509(certificate, nullptr, nullptr, nullptr);
    EVP_PKEY* k = PEM_read_bio_PrivateKey(key, nullptr, nullptr, nullptr);
    SSL_CTX_use_certificate(context_, x);
    SSL_CTX_use_PrivateKey(context_, k);
    X509_free(x);
    EVP_PKEY_free(k);
    BIO_free(certificate);
    BIO_free(key);
  }

  SSL_CTX* context_;
  SSL* ssl_ = nullptr;
  int socket_;
  bool connected_ = false;
  ssize_t plain_ = 0;  ///< bytes that were sent unencrypted
};

}  // namespace gv
