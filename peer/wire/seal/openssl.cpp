#include "peer/wire/seal/openssl.h"

#include <stdexcept>

namespace gv {

std::string openssl_error() {
  const unsigned long code = ERR_peek_last_error();
  const char* const reason = ERR_reason_error_string(code);
  ERR_clear_error();
  return reason == nullptr ? "no reason is given" : reason;
}

void openssl_must(bool done, const char* what) {
  if (!done) throw std::runtime_error(std::string("OpenSSL: ") + what + ": " + openssl_error());
}

}  // namespace gv
