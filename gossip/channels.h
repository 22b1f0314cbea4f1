#pragma once

#include <string>
#include <vector>

#include "gossip/message.h"

namespace gv {

/// Returns why a fleet cannot have these channels; "" when it can. A message says which channel it
/// is on by its kind alone, so that two of one kind would take each other's messages.
std::string objection_to(const std::vector<Channel>& channels);

}  // namespace gv
