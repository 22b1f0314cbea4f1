#include "peer/tls/cipher_speed.h"

#include <array>
#include <memory>
#include <vector>

#include <time.h>

#include "peer/tls/openssl.h"

namespace gv {
namespace {

using OwnedCipher = std::unique_ptr<EVP_CIPHER_CTX, Released<EVP_CIPHER_CTX_free>>;

/// A record of its own nonce, and its tag, as in TLS.
void encrypt_record(EVP_CIPHER_CTX* cipher, std::vector<unsigned char>& record) {
  constexpr int tag_bytes = 16;
  static constexpr std::array<unsigned char, 12> nonce{};
  std::array<unsigned char, tag_bytes> tag{};
  int count = 0;
  EVP_EncryptInit_ex(cipher, nullptr, nullptr, nullptr, nonce.data());
  const auto size = static_cast<int>(record.size());
  EVP_EncryptUpdate(cipher, record.data(), &count, record.data(), size);
  EVP_EncryptFinal_ex(cipher, record.data(), &count);
  EVP_CIPHER_CTX_ctrl(cipher, EVP_CTRL_GCM_GET_TAG, tag_bytes, tag.data());
}

/// Of this thread alone: others may use the core too.
double own_seconds() {
  timespec spent{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &spent);
  return static_cast<double>(spent.tv_sec) + 1e-9 * static_cast<double>(spent.tv_nsec);
}

}  // namespace

double aes_gcm_bytes_per_second() {
  constexpr double seconds = 0.2;
  constexpr int at_once = 64;
  std::vector<unsigned char> record(SSL3_RT_MAX_PLAIN_LENGTH);
  const std::array<unsigned char, 16> key{};
  const OwnedCipher cipher(EVP_CIPHER_CTX_new());
  openssl_must(cipher && EVP_EncryptInit_ex(
                             cipher.get(), EVP_aes_128_gcm(), nullptr, key.data(), nullptr) == 1,
               "AES-128-GCM");
  const double began = own_seconds();
  double bytes = 0;
  while (own_seconds() - began < seconds) {
    for (int i = 0; i < at_once; ++i) encrypt_record(cipher.get(), record);
    bytes += static_cast<double>(at_once) * static_cast<double>(record.size());
  }
  return bytes / (own_seconds() - began);
}

}  // namespace gv
