#include <array>
#include <vector>

#include <time.h>

#include "peer/study/bench/bench.h"
#include "peer/wire/seal/tls_context.h"

namespace gv {
namespace {

constexpr int tag_bytes = EVP_GCM_TLS_TAG_LEN;

/// Processes a record with its nonce and tag, as TLS does. Decryption gets arbitrary bytes, which
/// takes as long.
void do_record(EVP_CIPHER_CTX* cipher, std::vector<unsigned char>& record, bool encrypts) {
  static constexpr std::array<unsigned char, 12> nonce{};
  std::array<unsigned char, tag_bytes> tag{};
  int count = 0;
  EVP_CipherInit_ex(cipher, nullptr, nullptr, nullptr, nonce.data(), -1);
  const auto size = static_cast<int>(record.size());
  EVP_CipherUpdate(cipher, record.data(), &count, record.data(), size);
  if (!encrypts) EVP_CIPHER_CTX_ctrl(cipher, EVP_CTRL_AEAD_SET_TAG, tag_bytes, tag.data());
  EVP_CipherFinal_ex(cipher, record.data(), &count);
  if (encrypts) EVP_CIPHER_CTX_ctrl(cipher, EVP_CTRL_AEAD_GET_TAG, tag_bytes, tag.data());
}

/// Returns the processor time of this thread, because other threads may use the core too.
double own_seconds() {
  timespec spent{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &spent);
  return static_cast<double>(spent.tv_sec) + 1e-9 * static_cast<double>(spent.tv_nsec);
}

double bytes_per_second(bool encrypts) {
  constexpr double seconds = 0.2;
  constexpr int at_once = 64;
  std::vector<unsigned char> record(SSL3_RT_MAX_PLAIN_LENGTH);
  const std::array<unsigned char, 16> key{};
  const OwnedCipher cipher(EVP_CIPHER_CTX_new());
  const bool made = cipher && EVP_CipherInit_ex(cipher.get(), EVP_aes_128_gcm(), nullptr,
                                                key.data(), nullptr, encrypts ? 1 : 0) == 1;
  openssl_must(made, "AES-128-GCM");
  const double began = own_seconds();
  double bytes = 0;
  while (own_seconds() - began < seconds) {
    for (int i = 0; i < at_once; ++i) do_record(cipher.get(), record, encrypts);
    bytes += static_cast<double>(at_once) * static_cast<double>(record.size());
  }
  return bytes / (own_seconds() - began);
}

}  // namespace

CipherSpeed aes_gcm_speed() {
  return {bytes_per_second(true), bytes_per_second(false)};
}

}  // namespace gv
