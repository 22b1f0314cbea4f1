#pragma once

#include <span>
#include <string>

#include "peer/record/fleet_record.h"
#include "peer/record/report/culprits.h"
#include "peer/record/report/remedies.h"

namespace gv {

/// "time       compute 54 %, mix 8 %, late 9 %, ...": where the peers' time went, all together;
/// what took less than half a per cent is left out. "" where nothing was recorded.
std::string time_text(const FleetRecord& record);

/// "hint       ...": the largest thing that is not training, and what would help this fleet against
/// it; "" where training is nine tenths of the time or nothing is known that would help. `found`:
/// who is waited for, the worst first (culprits.h).
std::string time_advice(const FleetRecord& record,
                        std::span<const Culprit> found,
                        std::span<const std::string> hosts,
                        const Remedies& remedies);

}  // namespace gv
