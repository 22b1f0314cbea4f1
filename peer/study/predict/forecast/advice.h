#pragma once

#include <cstdint>
#include <string>

#include "peer/runtime/assembly/assembly.h"

namespace gv {

/// Effect of a fleet's batch on a learning rate that was tuned for a single peer.
struct BatchAdvice {
  double alone = 1;        ///< mean number of samples in one peer's gradient
  double together = 1;     ///< number of samples in one step of the fleet's model
  double linear = 0;       ///< lr together / alone, for SGD; Goyal et al. 2017, arXiv:1706.02677
  double square_root = 0;  ///< lr sqrt(together / alone): for Adam; Malladi et al. 2022,
                           ///< arXiv:2205.10287
  /// Steps over which to rise to the linear rate: five epochs (Goyal et al.), at most a tenth of
  /// the run. 0 if the batch is less than twice as large.
  std::uint64_t warmup = 0;
};
BatchAdvice batch_advice(const Assembly& fleet);
/// Returns whether programs take the steps at a rate of their own, so that the file's lr is unused.
bool has_own_rate(const Assembly& fleet);

/// Returns the option that shortens this method's averaging step, which a codec that drops most of
/// a vector needs: "algorithm.gamma". Empty if there is none.
std::string consensus_key(const Assembly& fleet);

/// Returns what is wrong with that option's value; empty if nothing is, or if it is unknown. A
/// value above the usual one is tried in virtual time: a few hundred rounds of the method itself,
/// on this graph and with this codec, but on a quadratic with white noise and different minima.
/// Costs O(n deg) vectors of 500 floats per round; for at most 64 peers.
std::string codec_warning(const Assembly& fleet);

/// Returns "error: the loss is not finite; lower ...", with the keys that this fleet has. The run
/// then ends with exit_code::failed.
std::string loss_not_finite(const Assembly& fleet);

}  // namespace gv
