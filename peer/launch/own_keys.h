#pragma once

#include <memory>
#include <string>

#include "peer/fleet/fleet.h"
#include "peer/wire/seal/tls_context.h"

namespace gv {

/// Returns what a peer that nobody launched proves itself with, as `keygen` made it; null: there is
/// nothing, and the links say whether they need some. `folder`: instead of the fleet file's;
/// "": that one. Throws std::runtime_error as context_of_file does.
std::shared_ptr<const TlsContext> own_keys(const Fleet& fleet,
                                           PeerId id,
                                           const std::string& folder);

}  // namespace gv
