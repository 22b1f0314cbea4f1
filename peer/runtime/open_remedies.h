#pragma once

#include "peer/record/report/time_shares.h"
#include "peer/runtime/assembly.h"

namespace gv {

/// Returns what this fleet could still do, so that nothing is advised that its file would then be
/// refused for.
Remedies remedies_of(const Assembly& fleet);

}  // namespace gv
