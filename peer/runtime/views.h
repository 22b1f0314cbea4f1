#pragma once

#include <cstdint>
#include <string>

#include "gossip/algorithm.h"
#include "peer/fleet/json/json.h"
#include "peer/record/report/time_shares.h"
#include "peer/runtime/assembly/assembly.h"

namespace gv {

/// `parallel.ahead` as in the fleet file: "all", or a number.
std::string ahead_text(std::uint32_t ahead);
/// Message that a chain has ended because this stage has died or makes no progress.
std::string chain_ended_text(PeerId stage);
/// Describes how the chains of a fleet divide their models; "" if there are none.
std::string chains_text(const Assembly& fleet);
/// Adds the division as `stages` (names), `chains`, `copies` (of each stage), `tensor`,
/// `microbatches`, `ahead` ("all", or a number), `schedule` and `vertical_sync`.
void add_chains(Json& json, const Assembly& fleet);

/// Returns whether the others continue after the peers supplied by `by` have ended: it is one of
/// several that hand out samples or keep an agent's transitions, and no collective needs all.
bool does_without_supplier(const Assembly& fleet, PeerId by);
/// Message that these peers have ended.
std::string supply_ended_text(PeerId by);

/// Returns the changes that this fleet still allows, so that no advice is one that would be
/// refused.
Remedies remedies_of(const Assembly& fleet);

/// The text of a small fleet file for this method, with each of its options at its usual value:
/// eight peers, a model that trains in seconds, a ring if the method allows it.
std::string example_fleet(const AlgorithmRow& row);

}  // namespace gv
