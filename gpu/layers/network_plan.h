#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "optim/models/network_builder.h"

namespace gv::gpu {

/// Nodes that one layer computes: a head and, in the same pass over its values, the sum with
/// another node's value, and a relu or a gelu. The values between them need no memory, except the
/// argument of a gelu.
struct Unit {
  static constexpr std::size_t none = static_cast<std::size_t>(-1);

  std::size_t head = 0, end = 0;                  ///< first and last node; mostly the same
  std::array<std::size_t, 2> inputs{none, none};  ///< inputs of the head; a residual is the second
  bool residual = false;                          ///< whether the second input is added
  Op then = Op::input;                            ///< relu or gelu applied last; input: none
  /// [input]: whether another consumer's share of that input's gradient is there already.
  std::array<bool, 2> adds{false, false};
};

/// Slots of memory that the nodes of a network use, with sizes in floats per row. Making a plan
/// needs no device.
struct NetworkPlan {
  static constexpr std::size_t none = Unit::none;

  std::vector<Unit> units;             ///< every node but the input's, in the order of computing
  std::vector<std::size_t> values;     ///< floats per row of each slot of values
  std::vector<std::size_t> gradients;  ///< floats per row of each slot of gradients
  /// Slots of a pass without a backward pass, where later values reuse the slots of earlier ones;
  /// and [node]: its slot there. The input has slot 0 of either kind.
  std::vector<std::size_t> passing;
  std::vector<std::size_t> passing_of;
  std::vector<std::size_t> value_of;  ///< [node]: its slot; none inside a unit
  /// [node]: its slot; none for the input, inside a unit, and for the last node: the loss writes
  /// the gradient over the logits. An addend uses the slot of its sum if it has no share yet.
  std::vector<std::size_t> gradient_of;
};

/// Keeps every value of a pass with a backward pass; frees a gradient's slot once its node is done.
/// Aborts if a node's value has no consumer.
NetworkPlan plan_network(const NeuralNetwork& network);

}  // namespace gv::gpu
