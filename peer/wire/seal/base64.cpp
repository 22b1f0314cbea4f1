#include "peer/wire/seal/base64.h"

#include <stdexcept>

#include <openssl/evp.h>

namespace gv {

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
