#pragma once

#include <string>

#include "peer/runtime/assembly/assembly.h"

namespace gv {

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
