#pragma once

#include "peer/fleet/source.h"
#include "peer/fleet/value.h"

namespace gv {

/// `model:`; null: what the kind of the data is usually learned with. Whether the pictures are
/// large enough is seen when they are loaded.
ModelSpec read_model(Source& source, const Value& root, const Value* value, const DataSpec& data);

}  // namespace gv
