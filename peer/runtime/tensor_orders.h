#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "optim/models/objective.h"

namespace gv {

/// The order in memory of the dimensions of each tensor of a model, the outermost first; empty for
/// the shape's order. Programs hold some tensors in another order, such as channels-last pictures.
using TensorOrders = std::vector<std::vector<std::uint32_t>>;

/// Returns the values with each tensor in the order of its shape, as in files. `orders` may be
/// shorter than `parameters`; the remaining tensors are already in the shape's order.
std::vector<float> in_order_of_shapes(std::span<const float> x,
                                      const std::vector<Parameter>& parameters,
                                      const TensorOrders& orders);
/// Returns the values with each tensor in its order in memory: the inverse of in_order_of_shapes.
std::vector<float> in_order_of_memory(std::span<const float> values,
                                      const std::vector<Parameter>& parameters,
                                      const TensorOrders& orders);

}  // namespace gv
