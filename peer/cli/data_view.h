#pragma once

#include <string>

#include "peer/runtime/assembly.h"

namespace gv::cli {

/// Tells people what a fleet trains on: columns, classes, and who has which of them. Lines of at
/// most 80 columns.
std::string data_text(const Assembly& fleet);

/// Does the same for programs, `grapevine.data/1`.
std::string data_json(const Assembly& fleet);

}  // namespace gv::cli
