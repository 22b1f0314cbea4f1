#pragma once

#include <complex>
#include <cstdint>
#include <vector>

#include "graph/predict/mode_recursion.h"

// How far one mode of the recursion is driven after some rounds from rest: by the noise of
// minibatches that are drawn without replacement, and by a pull that stays.

namespace gv {

/// Returns whether the mode grows without being driven.
bool grows(const ModeRound& round);

/// The rounds that a mode has gone through, in stretches of equal ones.
struct ModeWay {
  struct Stretch {
    ModeRound round;
    std::uint64_t rounds = 0;
  };
  std::vector<Stretch> stretches;  ///< of whole epochs, where the noise has epochs
  ModeRound now;                   ///< a round of the present epoch
};

/// E |z[0]|^2 per unit of the noise's variance; of noise with epochs the mean over the rounds of
/// the epoch that follows. epoch: minibatches in one; 0: all are fresh. Infinite where the mode
/// grows.
double noise_power(const ModeWay& way, double epoch);

/// z[0] per unit of G, against it: the peers' minima lie at -G / h of where the gradients are G.
std::complex<double> pull_response(const ModeWay& way, double h);

/// Minibatches of an epoch, a whole number.
std::uint64_t epoch_rounds(double epoch);

}  // namespace gv
