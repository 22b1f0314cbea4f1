#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "optim/models/network_builder.h"
#include "optim/range.h"

namespace gv {

// A network in parts that follow each other, for peers that divide it between them: as pipelines
// do, Huang et al. 2019, arXiv:1811.06965, section 2.1. The parts together compute the bits of the
// whole.

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

// Layers that several peers divide in themselves: the Parameter dimension of Jia, Zaharia & Aiken
// 2019, "Beyond data and model parallelism for deep neural networks", arXiv:1807.05358, section 4.
// Each of t members has out / t rows of a linear layer, and computes those columns of what comes
// out of it. All other layers each member has whole.

/// Returns whether members can divide this part of a network, which lies between two neighbouring
/// cuts: it is one linear layer and functions of each value alone, and not the last, whose logits
/// are needed together.
bool is_divisible(const Part& part);
/// The rows of its linear layer.
std::uint32_t rows_of(const Part& part);

/// One member's own of a part.
struct MemberPart {
  Part part;                  ///< floats_out: its own columns
  std::vector<Range> ranges;  ///< where its tensors stand in the vector of the whole network
  bool divided = false;       ///< else it has all of it
};

/// `members` divide the rows of a part that is divisible.
MemberPart part_of_member(const Part& whole, std::uint32_t member, std::uint32_t members);

// Which of its places a network is cut at: those that somebody names, or those that make stages of
// equal work.

/// The places between stages that begin with these modules, the first of which is the network's.
/// Throws std::invalid_argument for any others: it says what they should be, or the nearest module
/// with which a stage may begin.
std::vector<Cut> cuts_before(const NeuralNetwork& network, const std::vector<std::string>& stages);

/// Makes so many stages, of which the largest has as few flops as may be; of cuts that are equally
/// good, the earlier. Throws std::invalid_argument for none and for more than there may be.
std::vector<Cut> equal_cuts(const NeuralNetwork& network, std::uint32_t stages);

}  // namespace gv
