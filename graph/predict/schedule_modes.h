#pragma once

#include <optional>

#include "graph/schedule/schedule.h"
#include "graph/spectrum/modes.h"

namespace gv {

/// All that the per-mode theory needs of a schedule, for any number of peers. One-peer exponential:
/// the eigenvalues of its period (Ying et al. 2021, arXiv:2110.13363). Random matching: every
/// direction off the mean has E W = E W^T W = kappa (Boyd, Ghosh, Prabhakar & Shah, "Randomized
/// gossip algorithms", IEEE Trans. Inf. Theory 2006). OD-EquiDyn: circulants, E lambda and
/// E |lambda|^2 over the shifts (Song et al. 2022, arXiv:2210.07881). None for the others, whose
/// matrices share no modes: see SequenceWalk.
std::optional<Modes> schedule_modes(const ScheduleSpec& spec, PeerId n);

}  // namespace gv
