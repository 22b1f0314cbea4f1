#include "peer/wire/seal/peer_keys.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <stdexcept>

#include <fmt/format.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/resource.h>

#include "graph/spec/parameters.h"
#include "peer/wire/seal/tls_context.h"

namespace gv {
namespace {

constexpr std::string_view scheme = "grapevine:";
constexpr std::size_t fleet_digits = 32;

std::string random_hex(std::size_t bytes) {
  std::vector<std::uint8_t> random(bytes);
  openssl_must(RAND_bytes(random.data(), static_cast<int>(bytes)) == 1, "random numbers");
  std::string hex;
  for (const std::uint8_t byte : random) hex += fmt::format("{:02x}", byte);
  return hex;
}

OwnedKey new_key() {
  const OwnedKeyContext context(EVP_PKEY_CTX_new_id(EVP_PKEY_ED25519, nullptr));
  openssl_must(context && EVP_PKEY_keygen_init(context.get()) == 1, "Ed25519");
  EVP_PKEY* key = nullptr;
  openssl_must(EVP_PKEY_keygen(context.get(), &key) == 1, "a new key");
  return OwnedKey(key);
}

/// Draws 159 bits, so that certificates of two authorities are never confused.
void set_serial(X509& certificate) {
  std::array<std::uint8_t, 20> random{};
  openssl_must(RAND_bytes(random.data(), random.size()) == 1, "random numbers");
  random[0] &= 0x7f;
  BIGNUM* const number = BN_bin2bn(random.data(), random.size(), nullptr);
  BN_to_ASN1_INTEGER(number, X509_get_serialNumber(&certificate));
  BN_free(number);
}

void set_name(X509_NAME* name, const std::string& text) {
  const auto* bytes = reinterpret_cast<const unsigned char*>(text.data());
  openssl_must(X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, bytes,
                                          static_cast<int>(text.size()), -1, 0) == 1,
               "a name");
}

void extend(X509& certificate, X509& issuer, int what, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx_nodb(&context);
  X509V3_set_ctx(&context, &issuer, &certificate, nullptr, nullptr, 0);
  const OwnedExtension extension(X509V3_EXT_conf_nid(nullptr, &context, what, value.c_str()));
  openssl_must(extension && X509_add_ext(&certificate, extension.get(), -1) == 1, value.c_str());
}

/// Makes a certificate without the extensions of its owner. It never expires: RFC 5280, 4.1.2.5.
OwnedCertificate bare_certificate(EVP_PKEY& key, const std::string& name) {
  OwnedCertificate certificate(X509_new());
  openssl_must(certificate && X509_set_version(certificate.get(), X509_VERSION_3) == 1, "X509");
  X509& x = *certificate;
  set_serial(x);
  set_name(X509_get_subject_name(&x), name);
  openssl_must(ASN1_TIME_set_string(X509_getm_notBefore(&x), "19700101000000Z") == 1 &&
                   ASN1_TIME_set_string(X509_getm_notAfter(&x), "99991231235959Z") == 1,
               "dates");
  openssl_must(X509_set_pubkey(&x, &key) == 1, "a public key");
  return certificate;
}

void sign(X509& certificate, EVP_PKEY& key) {
  openssl_must(X509_sign(&certificate, &key, nullptr) > 0, "a signature");
}

OwnedCertificate authority_of(EVP_PKEY& key, const std::string& fleet) {
  OwnedCertificate certificate = bare_certificate(key, "grapevine fleet " + fleet);
  X509& x = *certificate;
  openssl_must(X509_set_issuer_name(&x, X509_get_subject_name(&x)) == 1, "an issuer");
  extend(x, x, NID_basic_constraints, "critical,CA:TRUE,pathlen:0");
  extend(x, x, NID_key_usage, "critical,keyCertSign");
  extend(x, x, NID_subject_key_identifier, "hash");
  sign(x, key);
  return certificate;
}

OwnedCertificate peers_certificate(EVP_PKEY& key,
                                   const TlsIdentity& who,
                                   X509& authority,
                                   EVP_PKEY& signer) {
  OwnedCertificate certificate = bare_certificate(key, fmt::format("peer {}", who.peer));
  X509& x = *certificate;
  openssl_must(X509_set_issuer_name(&x, X509_get_subject_name(&authority)) == 1, "an issuer");
  extend(x, authority, NID_basic_constraints, "critical,CA:FALSE");
  extend(x, authority, NID_key_usage, "critical,digitalSignature");
  extend(x, authority, NID_ext_key_usage, "serverAuth,clientAuth");
  extend(x, authority, NID_subject_key_identifier, "hash");
  extend(x, authority, NID_authority_key_identifier, "keyid:always");
  extend(x, authority, NID_subject_alt_name, "URI:" + to_string(who));
  sign(x, signer);
  return certificate;
}

template <class Text, class Write>
Text pem(Write write) {
  const OwnedBio bio(BIO_new(BIO_s_secmem()));
  openssl_must(bio && write(bio.get()) == 1, "PEM");
  char* text = nullptr;
  const long length = BIO_get_mem_data(bio.get(), &text);
  return {text, static_cast<std::size_t>(length)};
}

std::string pem_of(X509& certificate) {
  return pem<std::string>([&](BIO* bio) { return PEM_write_bio_X509(bio, &certificate); });
}

Secret pem_of(EVP_PKEY& key) {
  return pem<Secret>([&](BIO* bio) {
    return PEM_write_bio_PrivateKey(bio, &key, nullptr, nullptr, 0, nullptr, nullptr);
  });
}

constexpr std::size_t time_bytes = sizeof(std::uint64_t);
constexpr std::size_t code_bytes = 32;
constexpr const char* stranger =
    "it does not know this run's token: it is not a process of this run, perhaps another user's";

}  // namespace

void wipe(void* bytes, std::size_t count) {
  OPENSSL_cleanse(bytes, count);
}

void wipe(std::string& text) {
  text.resize(text.capacity());
  wipe(text.data(), text.size());
  text.clear();
}

void keep_memory_to_ourselves() {
  const rlimit none{0, 0};
  ::setrlimit(RLIMIT_CORE, &none);
  ::prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
}

std::vector<PeerKeys> make_keys(PeerId n) {
  const std::string fleet = random_hex(fleet_digits / 2);
  const OwnedKey signer = new_key();
  const OwnedCertificate authority = authority_of(*signer, fleet);
  const std::string authority_pem = pem_of(*authority);
  std::vector<PeerKeys> all;
  for (PeerId i = 0; i < n; ++i) {
    const OwnedKey key = new_key();
    const OwnedCertificate own = peers_certificate(*key, {fleet, i}, *authority, *signer);
    all.push_back({pem_of(*key), pem_of(*own), authority_pem});
  }
  return all;
}

std::optional<TlsIdentity> parse_identity(std::string_view uri) {
  if (!uri.starts_with(scheme)) return {};
  uri.remove_prefix(scheme.size());
  if (uri.size() < fleet_digits + 2 || uri[fleet_digits] != '/') return {};
  const std::string_view fleet = uri.substr(0, fleet_digits);
  const std::string_view digits = uri.substr(fleet_digits + 1);
  if (fleet.find_first_not_of("0123456789abcdef") != std::string_view::npos) return {};
  const auto peer = as_number<PeerId>(digits);
  if (!peer) return {};
  const TlsIdentity identity{std::string(fleet), *peer};
  // Accepts only one spelling of each number.
  if (to_string(identity).size() != scheme.size() + uri.size()) return {};
  return identity;
}

std::string to_string(const TlsIdentity& identity) {
  return fmt::format("{}{}/{}", scheme, identity.fleet, identity.peer);
}

RunToken::RunToken() {
  std::array<unsigned char, 16> bytes{};
  if (::getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size()))
    throw std::runtime_error("the system gives no random numbers");
  text_.reserve(2 * bytes.size());
  for (const unsigned char byte : bytes) {
    text_ += "0123456789abcdef"[byte >> 4U];
    text_ += "0123456789abcdef"[byte & 15U];
  }
  wipe(bytes.data(), bytes.size());
}

std::string RunToken::proof(Side side, std::string_view ends, std::uint64_t now) const {
  std::string proof(time_bytes + code_bytes, '\0');
  std::memcpy(proof.data(), &now, time_bytes);
  std::string said = fmt::format("grapevine, within one machine\n{}\n{}\n",
                                 side == Side::dials ? "dials" : "is dialled", ends);
  said.append(proof, 0, time_bytes);
  unsigned size = 0;
  const unsigned char* const code =
      HMAC(EVP_sha256(), text_.data(), static_cast<int>(text_.size()),
           reinterpret_cast<const unsigned char*>(said.data()), said.size(),
           reinterpret_cast<unsigned char*>(proof.data() + time_bytes), &size);
  openssl_must(code != nullptr && size == code_bytes, "cannot prove to know the run's token");
  return proof;
}

Verdict RunToken::objection(std::string_view given,
                            Side side,
                            std::string_view ends,
                            std::uint64_t since) const {
  if (given.size() != time_bytes + code_bytes) return stranger;
  std::uint64_t said_at = 0;
  std::memcpy(&said_at, given.data(), time_bytes);
  const std::string expected = proof(side, ends, said_at);
  if (CRYPTO_memcmp(given.data(), expected.data(), expected.size()) != 0) return stranger;
  return said_at < since ? "its proof of this run's token was made for another peer" : "";
}

std::string base64(std::string_view bytes) {
  constexpr std::size_t most = 1'000'000'000;
  if (bytes.size() > most) throw std::length_error("more than a gigabyte for base64");
  std::string text((bytes.size() + 2) / 3 * 4 + 1, '\0');  // room for OpenSSL's terminating zero
  const int length = EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()),
                                     reinterpret_cast<const unsigned char*>(bytes.data()),
                                     static_cast<int>(bytes.size()));
  text.resize(static_cast<std::size_t>(length));
  return text;
}

}  // namespace gv
