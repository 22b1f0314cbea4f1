#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "peer/fleet/data/data_spec.h"
#include "peer/fleet/file/value.h"

namespace gv {

/// Reads `data` (null: the digits) for `peers` peers. Paths are taken relative to `folder`.
/// Problems become diagnostics of `source`, at `value` or else at `root`; `notices` may be null.
DataSpec read_data(Source& source,
                   const Value& root,
                   const Value* value,
                   const std::filesystem::path& folder,
                   PeerId peers,
                   std::vector<std::string>* notices);

/// Reads `data` of a program, which has samples of its own: how many, and how they are divided.
DataSpec read_program_data(Source& source, const Value* value, PeerId peers);

}  // namespace gv
