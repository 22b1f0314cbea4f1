#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "optim/models/network.h"
#include "optim/range.h"

// A network in parts that follow each other, for peers that divide it between them: as pipelines
// do, Huang et al. 2019, arXiv:1811.06965, section 2.1. The parts together compute the bits of the
// whole.

namespace gv {

/// A place for a cut: behind `node` exactly one value is needed, and it is the node's. Of
/// all such nodes before one module it is the last: ReLU and pools stay with the layer before.
///
/// A value crosses in a plain layout, however it lies on a device. So none is before a batch or
/// group norm, which may sum in the order in which the layer before has laid its input.
struct Cut {
  std::uint32_t node = 0;
  std::string name;  ///< of the module that begins there: "fc2", "layer2.0.conv1", "h.3.ln_1"

  bool operator==(const Cut&) const = default;
};

/// A node with parameters, and what their names begin with.
struct Module {
  std::string name;
  std::uint32_t node = 0;
};

/// All of a network, ascending.
std::vector<Module> modules_of(const NeuralNetwork& network);
/// Counts the values that are needed behind each node, of it and of those before.
std::vector<std::uint32_t> values_behind(const NeuralNetwork& network);
/// All of a network, ascending.
std::vector<Cut> places(const NeuralNetwork& network);

/// Nodes between two cuts as a network of its own, whose input is the value that crosses there.
struct Part {
  NeuralNetwork network;      ///< tensors from offset 0; classes and vocabulary where it has them
  Range range;                ///< where they stand in the vector of the whole
  bool first = true;          ///< its input is that of the whole
  bool last = true;           ///< its last value is the logits
  std::size_t floats_in = 0;  ///< that cross the cut before and behind it, of one row; 0: no cut
  std::size_t floats_out = 0;
};

/// `cuts`: of places(), ascending; stage <= cuts.size().
Part part(const NeuralNetwork& network, std::span<const Cut> cuts, std::uint32_t stage);

/// Fills x with what NeuralNetwork::initialize would lay down in `range` of the whole's vector, in
/// room for the largest tensor more. No tensor reaches across a border of the range.
void initialize(const NeuralNetwork& network, Range range, std::span<float> x, Rng rng);

}  // namespace gv
