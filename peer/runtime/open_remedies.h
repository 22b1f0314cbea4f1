#pragma once

#include "peer/record/report/time_shares.h"
#include "peer/runtime/assembly.h"

namespace gv {

/// Returns the changes still open to this fleet, so that no advice leads to a fleet file that would
/// be refused.
Remedies remedies_of(const Assembly& fleet);

}  // namespace gv
