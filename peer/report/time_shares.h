#pragma once

#include <string>

#include "peer/runtime/observer.h"

namespace gv {

/// "time       compute 54 %, mix 8 %, late 9 %, ...": where the peers' time went, all together;
/// what took less than half a per cent is left out. "" where nothing was recorded.
std::string time_text(const FleetRecord& record);

/// "most       ...": the largest thing that is not training and what would help against it; ""
/// where training is nine tenths of the time.
std::string time_advice(const FleetRecord& record);

}  // namespace gv
