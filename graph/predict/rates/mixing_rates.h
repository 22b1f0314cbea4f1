#pragma once

#include <cstdint>

#include "graph/spectrum/modes.h"

namespace gv {

/// S1: the stationary consensus distance of D-PSGD in the limit of small steps, in units of the
/// variance gamma^2 s^2 that one gradient adds to one coordinate. (1/n) sum 1 / (1 - |lambda|^2) in
/// Lian's order (arXiv:1705.09056, Algorithm 1), (1/n) sum |lambda|^2 / (1 - |lambda|^2) when
/// averaging comes last. The mean over the period of a sequence; infinite when W does not mix.
Estimate s1_lian(const Modes& modes);
Estimate s1_atc(const Modes& modes);

/// Effective number of neighbours n_W(g), 1 .. n: how many peers' worth of variance reduction a
/// random walk that forgets by g per step gets from W. g = (1 - gamma h)^2 for SGD. Vogels,
/// Hendrikx & Jaggi, "Beyond spectral gap", NeurIPS 2022, arXiv:2206.03093.
Estimate effective_neighbors(const Modes& modes, double g);

/// Returns what is left after k rounds of pure averaging of a disagreement that began white
/// (variance 1 in each peer): (1/n) sum |product of lambda|^2. From the worst start: slem^(2k).
Estimate disagreement_after(const Modes& modes, std::uint64_t rounds);

/// Rounds of pure averaging until every disagreement is `factor` of what it was: ln factor / ln
/// slem, from the gap 1 - slem so that nothing cancels. 1 for exact averaging; infinite when gap is
/// 0.
double rounds_to(double gap, double factor);

/// The slowness with which the random walk of a symmetric W >= 0 forgets, from its gaps, 1 -
/// lambda2 and 1 - slem (Levin, Peres & Wilmer, "Markov chains and mixing times", AMS 2009,
/// theorems 12.3, 12.4 and 13.14).
struct MixingBounds {
  double cheeger_low,
      cheeger_high;                ///< on the conductance: (1 - lambda2) / 2, sqrt(2 (1 - lambda2))
  double mixing_low, mixing_high;  ///< on the rounds to a total variation of 1/4
};
MixingBounds mixing_bounds(PeerId n, double lambda2, double gap);

}  // namespace gv
