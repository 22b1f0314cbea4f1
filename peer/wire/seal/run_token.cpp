#include "peer/wire/seal/run_token.h"

#include <array>
#include <cstring>
#include <stdexcept>

#include <fmt/format.h>
#include <openssl/crypto.h>
#include <openssl/hmac.h>
#include <sys/random.h>

#include "peer/wire/seal/openssl.h"

namespace gv {
namespace {

constexpr std::size_t time_bytes = sizeof(std::uint64_t);
constexpr std::size_t code_bytes = 32;
constexpr const char* stranger =
    "it does not know this run's token: it is not a process of this run, perhaps another user's";

}  // namespace

RunToken::RunToken() {
  std::array<unsigned char, 16> bytes{};
  if (::getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size()))
    throw std::runtime_error("no random numbers are to be had");
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
                                 side == Side::dials ? "dials" : "is dialled",
                                 ends);
  said.append(proof, 0, time_bytes);
  unsigned size = 0;
  const unsigned char* const code =
      HMAC(EVP_sha256(),
           text_.data(),
           static_cast<int>(text_.size()),
           reinterpret_cast<const unsigned char*>(said.data()),
           said.size(),
           reinterpret_cast<unsigned char*>(proof.data() + time_bytes),
           &size);
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

}  // namespace gv
