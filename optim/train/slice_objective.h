#pragma once

#include <cstdint>
#include <memory>

#include "optim/train/replica.h"

namespace gv {

/// The coordinates `r` of a model, for a peer that keeps and steps them and has no data: they begin
/// as the model's own do, their evaluation says nothing, and to ask for a gradient is our own
/// mistake.
std::unique_ptr<Objective> make_slice(std::unique_ptr<Objective> whole, Range r);

/// One microbatch of those that a gradient is the weighted sum of.
struct MicrobatchShare {
  std::uint32_t index = 0;  ///< ascending
  std::uint32_t count = 1;  ///< of those that are added here
  float weight = 1;         ///< 1 / count, and g is their mean

  /// Returns whether more becomes of it than g as it is.
  bool changes() const { return count > 1 || weight != 1; }
};

/// Takes up g, the gradient over that microbatch, so that after the last one g is the sum of all,
/// each times its weight; `sum` holds what came before, and is not used for a single one. The order
/// fixes the bits: those of weight g_0 + weight g_1 + ..., and for a single microbatch of weight 1
/// g as it is.
void add_microbatch(Replica& replica, Vector sum, MicrobatchShare share);

}  // namespace gv
