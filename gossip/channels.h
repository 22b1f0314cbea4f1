#pragma once

#include <string>
#include <vector>

#include "gossip/message.h"

namespace gv {

/// Returns why a fleet cannot have these channels; "" if it can. A message is assigned to its
/// channel by its kind alone, so two channels of one kind would take each other's messages.
std::string objection_to(const std::vector<Channel>& channels);

}  // namespace gv
