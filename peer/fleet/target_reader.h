#pragma once

#include <optional>
#include <string>

#include "peer/fleet/file/value.h"
#include "peer/fleet/target_spec.h"

namespace gv {

/// `{ accuracy: 0.9 }`, `{ loss: 0.4, of: local, for: 2 }`. Problems become diagnostics of
/// `source`; `path`: of the key, for them.
std::optional<TargetSpec> read_target(Source& source, const Value& value, const std::string& path);

}  // namespace gv
