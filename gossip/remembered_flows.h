#pragma once

#include <string>
#include <string_view>

#include "gossip/registry.h"

namespace gv {

/// Why a method that moves the model by all past flows of averaging (D2, EXTRA, NIDS) does not take
/// this setup, whatever its W; "": it does. `kind`: as the fleet file names it.
std::string objection_to_remembered_flows(const Setup& setup, std::string_view kind);

}  // namespace gv
