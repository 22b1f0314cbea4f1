#pragma once

#include <cstdint>
#include <vector>

#include "optim/rng.h"

namespace gv {

/// Returns the numbers, ascending, of the samples that are not trained on: a part (0 to 1) of all
/// `rows`, drawn at random without replacement; at least one, and at least one sample remains.
/// `rows` is 2 or more.
std::vector<std::uint32_t> held_out_rows(std::uint32_t rows, double part, Rng rng);

}  // namespace gv
