#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
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

/// The model that the programs of a fleet train: float32 tensors, concatenated.
struct ProgramModel {
  std::vector<Parameter> parameters{};
  TensorOrders orders{};
  std::vector<float> start{};  ///< x_0; empty if only its own process has it
  bool evaluates = false;      ///< it can compute a model's loss or accuracy
  /// Work of one gradient and step for a modelled clock, chosen to take the measured time.
  double gradient_flops = 0;
};

std::size_t size_of(const std::vector<Parameter>& parameters);  ///< number of floats
/// 32 hex digits from names, shapes and orders; equal for all peers of a fleet.
std::string digest_of(const ProgramModel& model);
/// 32 hex digits from the values.
std::string digest_of(std::span<const float> values);
/// An objective with x_0 and without a gradient, from which a server makes its part of the model.
std::unique_ptr<Objective> make_start_objective(const std::vector<Parameter>& parameters,
                                                const std::vector<float>& start,
                                                double gradient_flops = 0);

}  // namespace gv
