#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "optim/models/objective.h"

namespace gv {

/// The order in memory of the dimensions of each tensor of a model, the outermost first; empty: as
/// the shape's. Programs hold some of theirs otherwise than files do, as channels-last pictures.
using TensorOrders = std::vector<std::vector<std::uint32_t>>;

/// The numbers of a model with each tensor in the order of its shape, as files have them. `orders`
/// may be shorter than `parameters`: those that are left out are as the shape's.
std::vector<float> in_order_of_shapes(std::span<const float> x,
                                      const std::vector<Parameter>& parameters,
                                      const TensorOrders& orders);
/// The other way round.
std::vector<float> in_order_of_memory(std::span<const float> values,
                                      const std::vector<Parameter>& parameters,
                                      const TensorOrders& orders);

}  // namespace gv
