#pragma once

namespace gv::gpu {

/// Two sums that a block takes together, such as those of the values and of their squares.
struct SumPair {
  double a = 0, b = 0;
};

}  // namespace gv::gpu
