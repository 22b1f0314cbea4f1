#pragma once

#include <filesystem>

#include "peer/fleet/file/value.h"
#include "peer/fleet/security_spec.h"

namespace gv {

/// Reads `security`; may be null. Keys lie beside the fleet file, in `keys`, unless it says
/// otherwise. Problems become diagnostics of `source`.
SecuritySpec read_security(Source& source, const Value* value, const std::filesystem::path& folder);

}  // namespace gv
