#pragma once

#include <string>

#include "peer/runtime/assembly.h"

namespace gv {

/// The option by which this method averages less far at once, because its codec leaves most of a
/// vector out: "algorithm.gamma"; "" where there is none.
std::string consensus_key(const Assembly& fleet);

/// Says what is wrong with that option's value; "" where nothing is, or where nobody knows. A step
/// above the usual one is tried: a few hundred rounds of the method itself, in virtual time, on
/// this graph and with this codec, but on a quadratic with white noise and unlike minima. O(n deg)
/// vectors of 500 floats a round; for 64 peers at most.
std::string codec_warning(const Assembly& fleet);

/// "error: the loss is not finite; lower ...", with the keys that this fleet has. A run ends with
/// exit_code::failed then.
std::string loss_not_finite(const Assembly& fleet);

}  // namespace gv
