#include "peer/launch/own_keys.h"

#include <filesystem>

#include "peer/wire/seal/peer_keys.h"
#include "peer/wire/seal/tls_context.h"

namespace gv {

std::shared_ptr<const TlsContext> own_keys(const Fleet& fleet,
                                           PeerId id,
                                           const std::string& given) {
  if (fleet.security.mode == SecurityMode::plaintext) return nullptr;
  const std::filesystem::path folder = given.empty() ? fleet.security.keys : given;
  const std::string path = (folder / key_file_name(id)).string();
  const bool there = std::filesystem::exists(std::filesystem::symlink_status(path));
  if (!there && given.empty() && fleet.security.mode == SecurityMode::automatic) return nullptr;
  keep_memory_to_ourselves();
  return context_of_file(path, id);
}

}  // namespace gv
