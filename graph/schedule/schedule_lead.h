#pragma once

#include <cstdint>

#include "graph/schedule/schedule.h"

namespace gv {

/// Returns how many rounds the others can complete, from `round` on, while peer i has not begun
/// `round`: a round is completed by who has heard all of its row, so it is the number of rounds
/// before that in which the last of them comes to depend on i (the light cone of Lamport's
/// happened-before relation, Lamport 1978, "Time, clocks, and the ordering of events in a
/// distributed system"). At most `limit`.
std::uint64_t longest_lead(const MixingSchedule& schedule,
                           std::uint64_t round,
                           PeerId i,
                           std::uint64_t limit = 10'000);

}  // namespace gv
