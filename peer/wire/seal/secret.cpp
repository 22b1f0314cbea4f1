#include "peer/wire/seal/secret.h"

#include <openssl/crypto.h>
#include <sys/prctl.h>
#include <sys/resource.h>

namespace gv {

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

}  // namespace gv
