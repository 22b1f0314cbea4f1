#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "optim/models/network.h"

namespace gv::gpu {

/// Which memory each node of a network uses, in slots of so many floats per row. No device is
/// needed to make it.
struct NetworkPlan {
  static constexpr std::size_t none = static_cast<std::size_t>(-1);

  std::vector<std::size_t> values;     ///< floats per row of each slot of values
  std::vector<std::size_t> gradients;  ///< the same of gradients by nodes
  std::vector<std::size_t> value_of;   ///< [node]: its slot
  /// [node]: its slot; none for the input, and for the last node: the loss leaves the gradient
  /// where the logits were.
  std::vector<std::size_t> gradient_of;
  std::vector<bool> in_place;  ///< [node]: a relu in its input's slot
  std::vector<bool> fused;     ///< [node]: a relu that its input's bias pass does, and that input
  /// [node][input]: another consumer's share of that input's gradient is there before its own.
  std::vector<std::array<bool, 2>> adds;
};

/// Every value is kept for the way back; a gradient's slot is free again once its node is done.
/// Aborts for a network in which a node's value is used by nobody.
NetworkPlan plan_network(const NeuralNetwork& network);

}  // namespace gv::gpu
