#pragma once

#include "peer/record/report/time_shares.h"
#include "peer/runtime/assembly.h"

namespace gv {

/// Returns the changes that this fleet still allows, so that no advice is one that would be
/// refused.
Remedies remedies_of(const Assembly& fleet);

}  // namespace gv
