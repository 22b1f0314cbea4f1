#pragma once

#include <complex>
#include <cstdint>
#include <vector>

#include "graph/predict/mode_recursion.h"

// Displacement of one mode of the recursion after some rounds from rest, driven by the noise of
// minibatches drawn without replacement and by a constant pull.

namespace gv {

/// Returns whether the mode grows without being driven.
bool grows(const ModeRound& round);

/// The rounds of a mode, in stretches of equal ones.
struct ModeWay {
  struct Stretch {
    ModeRound round;
    std::uint64_t rounds = 0;
  };
  std::vector<Stretch> stretches;  ///< whole epochs, if the noise has epochs
  ModeRound now;                   ///< a round of the present epoch
};

/// Returns E |z[0]|^2 per unit of the noise's variance; if the noise has epochs, the mean over the
/// rounds of the epoch that follows. epoch: minibatches in one; 0: all are fresh. Infinite if the
/// mode grows.
double noise_power(const ModeWay& way, double epoch);

/// Returns z[0] per unit of G, against it: for gradients G the peers' minima lie at -G / h.
std::complex<double> pull_response(const ModeWay& way, double h);

/// Returns the number of minibatches of an epoch, a whole number.
std::uint64_t epoch_rounds(double epoch);

}  // namespace gv
