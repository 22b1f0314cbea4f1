#pragma once

#include <cstdint>
#include <memory>

#include "optim/train/replica.h"

namespace gv {

/// Makes the coordinates `r` of a model, for a peer that keeps and steps them and has no data: they
/// start as the model's, their evaluation is empty, and a call for a gradient is a bug.
std::unique_ptr<Objective> make_slice(std::unique_ptr<Objective> whole, Range r);

/// One microbatch of a gradient, which is their weighted sum.
struct MicrobatchShare {
  std::uint32_t index = 0;  ///< ascending
  std::uint32_t count = 1;  ///< number of microbatches that are added here
  float weight = 1;         ///< 1 / count for the mean

  /// Returns whether the sum differs from g.
  bool changes() const { return count > 1 || weight != 1; }
};

/// Adds g, the gradient over that microbatch, so that after the last one g is the weighted sum of
/// all; `sum` stores the partial sum, and is not used for a single one. The order fixes the bits:
/// those of weight g_0 + weight g_1 + ..., and for a single microbatch of weight 1 the unchanged g.
void add_microbatch(Replica& replica, Vector sum, MicrobatchShare share);

}  // namespace gv
