#pragma once

#include <cstdint>
#include <string>

#include "peer/fleet/json/json.h"
#include "peer/runtime/assembly.h"

namespace gv {

/// `parallel.ahead` as the fleet file says it: "all", or a number.
std::string ahead_text(std::uint32_t ahead);
/// Says that a chain does no more rounds, since this stage of it has died or has not got on.
std::string chain_ended_text(PeerId stage);
/// Says how the chains of a fleet divide their models, for people; "" where there are none.
std::string chains_text(const Assembly& fleet);
/// Adds the same as `stages` (names), `chains`, `copies` (of each stage), `tensor`, `microbatches`,
/// `ahead` ("all", or a number), `schedule` and `vertical_sync`.
void add_chains(Json& json, const Assembly& fleet);

/// Tells whether the others go on when those that peer `by` supplied end for want of it: it is one
/// of several that hand out samples or keep an agent's transitions, and no collective needs all.
bool does_without_supplier(const Assembly& fleet, PeerId by);
/// Says that those have ended.
std::string supply_ended_text(PeerId by);

}  // namespace gv
