#include "peer/tls/traffic_key.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include <openssl/core_names.h>
#include <openssl/kdf.h>

#include "optim/check.h"

namespace gv {
namespace {

using OwnedKdf = std::unique_ptr<EVP_KDF, Released<EVP_KDF_free>>;
using OwnedKdfContext = std::unique_ptr<EVP_KDF_CTX, Released<EVP_KDF_CTX_free>>;

constexpr std::size_t tag_bytes = EVP_GCM_TLS_TAG_LEN;

OSSL_PARAM octets(const char* name, const void* bytes, std::size_t count) {
  return OSSL_PARAM_construct_octet_string(name, const_cast<void*>(bytes), count);
}

/// HKDF-Expand-Label with an empty context: RFC 8446, section 7.1. Both ciphers go with SHA-256.
void expand_label(const Secret& secret, std::string_view label, std::span<unsigned char> out) {
  constexpr std::string_view prefix = "tls13 ";
  static const OwnedKdf kdf(EVP_KDF_fetch(nullptr, OSSL_KDF_NAME_TLS1_3_KDF, nullptr));
  const OwnedKdfContext context(EVP_KDF_CTX_new(kdf.get()));
  std::string digest = SN_sha256;
  int mode = EVP_KDF_HKDF_MODE_EXPAND_ONLY;
  const std::array<OSSL_PARAM, 6> params{
      OSSL_PARAM_construct_int(OSSL_KDF_PARAM_MODE, &mode),
      OSSL_PARAM_construct_utf8_string(OSSL_KDF_PARAM_DIGEST, digest.data(), 0),
      octets(OSSL_KDF_PARAM_KEY, secret.data(), secret.size()),
      octets(OSSL_KDF_PARAM_PREFIX, prefix.data(), prefix.size()),
      octets(OSSL_KDF_PARAM_LABEL, label.data(), label.size()),
      OSSL_PARAM_construct_end()};
  openssl_must(context && EVP_KDF_derive(context.get(), out.data(), out.size(), params.data()) == 1,
               "a record's key");
}

const unsigned char* raw(const std::byte* bytes) {
  return reinterpret_cast<const unsigned char*>(bytes);
}

std::array<std::byte, record_head> head_of(std::size_t sealed) {
  return {std::byte{SSL3_RT_APPLICATION_DATA},
          std::byte{0x03},
          std::byte{0x03},
          static_cast<std::byte>(sealed >> 8),
          static_cast<std::byte>(sealed & 0xff)};
}

}  // namespace

std::size_t sealed_bytes(std::span<const std::byte, record_head> head) {
  return std::to_integer<std::size_t>(head[3]) << 8 | std::to_integer<std::size_t>(head[4]);
}

TrafficKey::TrafficKey(const EVP_CIPHER* cipher, Secret secret, Use use)
    : cipher_(cipher), secret_(std::move(secret)), use_(use), context_(EVP_CIPHER_CTX_new()) {
  derive();
}

void TrafficKey::derive() {
  std::array<unsigned char, EVP_MAX_KEY_LENGTH> key{};
  const auto bytes = static_cast<std::size_t>(EVP_CIPHER_get_key_length(cipher_));
  expand_label(secret_, "key", std::span(key).first(bytes));
  expand_label(secret_, "iv", nonce_);
  const bool made =
      EVP_CipherInit_ex(
          context_.get(), cipher_, nullptr, key.data(), nullptr, use_ == Use::seals) == 1;
  wipe(key.data(), key.size());
  openssl_must(made, "a record's key");
  number_ = 0;
}

void TrafficKey::renew() {
  Secret next(secret_.size(), '\0');
  expand_label(
      secret_, "traffic upd", {reinterpret_cast<unsigned char*>(next.data()), next.size()});
  secret_ = std::move(next);
  derive();
}

/// A nonce is the direction's own with the record's number added to its end without a carry:
/// section 5.3.
bool TrafficKey::begin(std::span<const std::byte> head) {
  std::array<unsigned char, nonce_bytes> nonce = nonce_;
  for (std::size_t i = 0; i < sizeof number_; ++i)
    nonce[nonce_bytes - 1 - i] ^= static_cast<unsigned char>(number_ >> (8 * i));
  ++number_;
  return EVP_CipherInit_ex(context_.get(), nullptr, nullptr, nullptr, nonce.data(), -1) == 1 &&
         update(head.data(), head.size(), nullptr);
}

/// `to`: null: what is authenticated alone.
bool TrafficKey::update(const std::byte* from, std::size_t bytes, std::byte* to) {
  int count = 0;
  return bytes == 0 || EVP_CipherUpdate(context_.get(),
                                        reinterpret_cast<unsigned char*>(to),
                                        &count,
                                        raw(from),
                                        static_cast<int>(bytes)) == 1;
}

void TrafficKey::seal(std::uint8_t type, Pieces pieces, SealedBytes& out) {
  std::size_t content = 0;
  for (const std::span<const std::byte> piece : pieces) content += piece.size();
  GV_CHECK(use_ == Use::seals && content <= most_content, "a record holds no more");
  const std::size_t at = out.size();
  out.resize(at + record_head + content + record_tail);
  std::byte* to = out.data() + at;
  const std::array<std::byte, record_head> head = head_of(content + record_tail);
  to = std::copy(head.begin(), head.end(), to);
  bool sealed = begin(head);
  for (const std::span<const std::byte> piece : pieces) {
    sealed = sealed && update(piece.data(), piece.size(), to);
    to += piece.size();
  }
  const std::byte kind{type};
  sealed = sealed && update(&kind, 1, to);
  int none = 0;
  ++to;
  sealed = sealed &&
           EVP_CipherFinal_ex(context_.get(), reinterpret_cast<unsigned char*>(to), &none) == 1 &&
           EVP_CIPHER_CTX_ctrl(context_.get(), EVP_CTRL_AEAD_GET_TAG, tag_bytes, to) == 1;
  openssl_must(sealed, "a record");
}

std::optional<TrafficKey::Opened> TrafficKey::open(std::span<const std::byte> record,
                                                   std::span<std::byte> out) {
  if (record.size() < record_head + record_tail) return {};
  const std::size_t content = record.size() - record_head - record_tail;
  GV_CHECK(use_ == Use::opens && out.size() >= content, "it has room for the content");
  const std::byte* const sealed = record.data() + record_head;
  std::array<unsigned char, tag_bytes> tag{};
  std::copy_n(raw(sealed + content + 1), tag_bytes, tag.begin());
  std::byte type{};
  int none = 0;
  std::array<unsigned char, tag_bytes> nothing{};
  const bool proved =
      begin(record.first(record_head)) && update(sealed, content, out.data()) &&
      update(sealed + content, 1, &type) &&
      EVP_CIPHER_CTX_ctrl(context_.get(), EVP_CTRL_AEAD_SET_TAG, tag_bytes, tag.data()) == 1 &&
      EVP_CipherFinal_ex(context_.get(), nothing.data(), &none) == 1;
  if (!proved) return {};
  // What is behind the type is padding: section 5.4.
  std::size_t bytes = content;
  while (type == std::byte{0} && bytes > 0) type = out[--bytes];
  return Opened{std::to_integer<std::uint8_t>(type), bytes};
}

}  // namespace gv
