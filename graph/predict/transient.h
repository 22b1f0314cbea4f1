#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "graph/mixing/mixing.h"
#include "graph/predict/quadratic.h"

namespace gv {

/// Returns whether predict_after knows the fleet: lian, atc or cta, SGD without momentum, one local
/// step, fresh neighbours.
bool has_transient(const QuadraticFleet& fleet);

/// Returns predict()'s quantities after `rounds` rounds from one start for all peers: every
/// coordinate at `start`, the minima drawn around 0. Every mode is a scalar recursion whose rounds
/// are composed, see ScalarRound (Lian et al. 2017, arXiv:1705.09056, Algorithm 1, and the two
/// other orders). Grows without bound if a mode is unstable. Throws std::invalid_argument unless
/// has_transient.
Stationary predict_after(const Modes& modes,
                         const QuadraticFleet& fleet,
                         double start,
                         std::uint64_t rounds);

/// Returns them for known centres (see predict_centers; fleet.spread is ignored): the path without
/// noise is followed round by round, rounds * n * degree operations per coordinate.
Stationary predict_after(const MixingMatrix& w,
                         const Modes& modes,
                         const QuadraticFleet& fleet,
                         const std::vector<std::vector<double>>& centers,
                         double start,
                         std::uint64_t rounds);

/// Returns the first round at which `value`, which falls, is at most `target`; none up to `most`.
std::optional<std::uint64_t> first_at_most(const std::function<double(std::uint64_t)>& value,
                                           double target,
                                           std::uint64_t most);

}  // namespace gv
