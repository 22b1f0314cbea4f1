#pragma once

#include <cstdint>

#include "graph/predict/mode_recursion.h"

// How far one mode of the recursion is driven after some rounds from rest: by the noise of
// minibatches that are drawn without replacement, and by a pull that stays.

namespace gv {

/// Whether it does without being driven.
bool grows(const ModeRound& round);

/// E |z[0]|^2 per unit of the noise's variance. epoch: minibatches in one; 0: all are fresh.
/// Infinite where the mode grows.
double noise_power(const ModeRound& round, double epoch, std::uint64_t rounds);

/// |z[0]|^2 per unit of |G|^2: the peers' minima lie at -G / h of where the gradients are G.
double pull_power(const ModeRound& round, double h, std::uint64_t rounds);

}  // namespace gv
