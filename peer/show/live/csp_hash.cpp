#include "peer/show/live/csp_hash.h"

#include <fmt/format.h>

#include "peer/wire/seal/base64.h"
#include "peer/wire/seal/tls_context.h"

namespace gv {

std::string csp_hash(std::string_view inline_text) {
  std::string digest(static_cast<std::size_t>(EVP_MD_get_size(EVP_sha256())), '\0');
  openssl_must(EVP_Digest(inline_text.data(),
                          inline_text.size(),
                          reinterpret_cast<unsigned char*>(digest.data()),
                          nullptr,
                          EVP_sha256(),
                          nullptr) == 1,
               "the hash of a page");
  return fmt::format("'sha256-{}'", base64(digest));
}

}  // namespace gv
