#pragma once

#include <filesystem>

#include "peer/fleet/file/source.h"
#include "peer/fleet/file/value.h"
#include "peer/fleet/fleet.h"

namespace gv {

/// `model:` into fleet.model and fleet.start, for fleet.data; null: what the kind of the data is
/// usually learned with. `folder`: where the path of `start` begins. Whether the pictures are large
/// enough, and whether the tensors of `start` fit, is seen when the data are loaded.
void read_model(Source& source,
                const Value& root,
                const Value* value,
                const std::filesystem::path& folder,
                Fleet& fleet);

/// `start:` of `model` into fleet.start and fleet.start_content, likewise.
void read_start(Source& source,
                const Value* value,
                const std::filesystem::path& folder,
                Fleet& fleet);

}  // namespace gv
