#pragma once

#include <cstdint>
#include <optional>

#include "graph/predict/quadratic.h"
#include "graph/schedule/schedule.h"

namespace gv {

// What predict and its relatives say of modes, for schedules whose matrices share none (Base-(k+1),
// MATCHA, ...): from the sequence itself, followed by a SequenceWalk (D-PSGD, Lian et al. 2017,
// arXiv:1705.09056).

/// Returns where the fleet settles: the mean over the rounds of a period, or for a random schedule
/// over eight stretches of its own sequence, with their standard error. Empty when it grows. The
/// mean model's loss is exact: its path does not depend on W. `most_work`: multiplications; empty
/// too when they do not suffice.
std::optional<Stationary> settled_sequence(const MixingSchedule& schedule,
                                           const QuadraticFleet& fleet,
                                           double most_work = 1e10);

/// (1/n) ||W_{rounds - 1} ... W_0 (I - J)||_F^2: what so many rounds of averaging leave of a white
/// disagreement, as disagreement_after says of modes.
double sequence_disagreement(const MixingSchedule& schedule, std::uint64_t rounds);

}  // namespace gv
