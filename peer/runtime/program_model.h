#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "optim/models/objective.h"
#include "peer/runtime/tensor_orders.h"

namespace gv {

/// The model that the programs of a fleet train: tensors of float32, one behind the other.
struct ProgramModel {
  std::vector<Parameter> parameters{};
  TensorOrders orders{};
  std::vector<float> start{};  ///< x_0; empty: only its own process has it
  bool evaluates = false;      ///< it says loss or accuracy of a model
  /// The work of one gradient and step, where a clock is modelled: so that they take as long as was
  /// measured.
  double gradient_flops = 0;
};

std::size_t size_of(const std::vector<Parameter>& parameters);  ///< in floats
/// 32 hex digits of names, shapes and orders: peers of one fleet have the same.
std::string digest_of(const ProgramModel& model);
/// 32 hex digits of floats.
std::string digest_of(std::span<const float> values);
/// x_0 without a gradient: what a server makes its part of the model from.
std::unique_ptr<Objective> make_start_objective(const std::vector<Parameter>& parameters,
                                                const std::vector<float>& start,
                                                double gradient_flops = 0);

}  // namespace gv
