#pragma once

#include <optional>

#include "peer/study/compare/contender.h"

namespace gv {

/// Seconds of a round of this contender by the closed forms of
/// peer/study/predict/forecast/wall_clock.h, from the network, the peers and the parameters of its
/// runs, and the seconds that their gradients took. Nothing where there is no form: another method
/// than D-PSGD on a graph of known degree, ring all-reduce and the synchronous parameter server;
/// links that differ; local steps.
std::optional<double> modelled_round_seconds(const Contender& contender);

}  // namespace gv
