#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "optim/models/network_builder.h"

namespace gv::gpu {

/// Nodes that one layer computes: a head and, behind it in the same pass over its values, the sum
/// with another node's value, and a relu or a gelu. What stands between them needs no memory, but
/// for what a gelu is taken of.
struct Unit {
  static constexpr std::size_t none = static_cast<std::size_t>(-1);

  std::size_t head = 0, end = 0;                  ///< its first node and its last; mostly the same
  std::array<std::size_t, 2> inputs{none, none};  ///< of the head; a residual is the second
  bool residual = false;                          ///< the second input is added behind the head
  Op then = Op::input;                            ///< relu or gelu behind all of it; input: nothing
  /// [input]: another consumer's share of that input's gradient is there before its own.
  std::array<bool, 2> adds{false, false};
};

/// The memory that each node of a network uses, in slots of so many floats per row. No device is
/// needed to make it.
struct NetworkPlan {
  static constexpr std::size_t none = Unit::none;

  std::vector<Unit> units;             ///< every node but the input's, in the order of computing
  std::vector<std::size_t> values;     ///< floats per row of each slot of values
  std::vector<std::size_t> gradients;  ///< the same of gradients by nodes
  /// The slots of a pass that nobody goes back from, whose values make room for those that come
  /// after them; and [node]: its slot there. The input's is the first of either kind.
  std::vector<std::size_t> passing;
  std::vector<std::size_t> passing_of;
  std::vector<std::size_t> value_of;  ///< [node]: its slot; none inside a unit
  /// [node]: its slot; none for the input, inside a unit, and for the last node: the loss leaves
  /// the gradient where the logits were. An addend's is the sum's own where it has no share yet.
  std::vector<std::size_t> gradient_of;
};

/// Every value of a pass that is gone back from is kept; a gradient's slot is free again once its
/// node is done. Aborts for a network in which a node's value is used by nobody.
NetworkPlan plan_network(const NeuralNetwork& network);

}  // namespace gv::gpu
