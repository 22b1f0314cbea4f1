#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "optim/models/network_builder.h"
#include "optim/range.h"

namespace gv {

// A network in consecutive parts, divided between peers as in pipelines: Huang et al. 2019,
// arXiv:1811.06965, section 2.1. The parts together compute the bits of the whole.

/// A place for a cut: later nodes need exactly one value of the nodes up to `node`, its own. Among
/// such nodes before one module it is the last: ReLU and pools stay with the preceding layer.
///
/// A value crosses in a plain layout, whatever its layout on a device. So no place is before a
/// batch or group norm, which may sum in the order of the preceding layer's layout.
struct Cut {
  std::uint32_t node = 0;
  std::string name;  ///< name of the next module: "fc2", "layer2.0.conv1", "h.3.ln_1"

  bool operator==(const Cut&) const = default;
};

/// A node with parameters, and the common prefix of their names.
struct Module {
  std::string name;
  std::uint32_t node = 0;
};

/// All of a network, ascending.
std::vector<Module> modules_of(const NeuralNetwork& network);
/// Counts, for each node, the values of the node and its predecessors that later nodes need.
std::vector<std::uint32_t> values_behind(const NeuralNetwork& network);
/// All of a network, ascending.
std::vector<Cut> places(const NeuralNetwork& network);

/// The nodes between two cuts as a network of its own, whose input is the value that crosses the
/// first cut.
struct Part {
  NeuralNetwork network;      ///< tensors from offset 0; classes and vocabulary if it has them
  Range range;                ///< range of its tensors in the whole vector
  bool first = true;          ///< true if its input is that of the whole
  bool last = true;           ///< true if its last value is the logits
  std::size_t floats_in = 0;  ///< floats per row across the cuts before and after; 0 without
  std::size_t floats_out = 0;
};

/// Returns the part of a stage. `cuts` are from places(), ascending; stage <= cuts.size().
Part part(const NeuralNetwork& network, std::span<const Cut> cuts, std::uint32_t stage);

/// Fills x with `range` of the start values of NeuralNetwork::initialize, using extra memory for
/// the largest tensor only. No tensor may cross a border of the range.
void initialize(const NeuralNetwork& network, Range range, std::span<float> x, Rng rng);

// Layers that several peers divide: the Parameter dimension of Jia, Zaharia & Aiken 2019, "Beyond
// data and model parallelism for deep neural networks", arXiv:1807.05358, section 4. Each of t
// members has out / t rows of a linear layer, and computes those columns of its output. All members
// have all other layers whole.

/// Returns whether members can divide this part of a network between two neighbouring cuts: it is
/// one linear layer and elementwise functions, and not the last part, whose logits are needed
/// together.
bool is_divisible(const Part& part);
/// The number of rows of its linear layer.
std::uint32_t rows_of(const Part& part);

/// One member's share of a part.
struct MemberPart {
  Part part;                  ///< with floats_out of its own columns
  std::vector<Range> ranges;  ///< ranges of its tensors in the whole network's vector
  bool divided = false;       ///< false if it has the whole part
};

/// Divides the rows of a divisible part between `members`.
MemberPart part_of_member(const Part& whole, std::uint32_t member, std::uint32_t members);

// The choice of cuts among the places: named ones, or those that make stages of equal work.

/// Returns the places between stages that begin with these modules, the first of which is the
/// network's. Throws std::invalid_argument for others, with the expected first module or the
/// nearest one that can begin a stage.
std::vector<Cut> cuts_before(const NeuralNetwork& network, const std::vector<std::string>& stages);

/// Makes this number of stages and minimizes the flops of the largest; takes the earlier of equal
/// cuts. Throws std::invalid_argument for none and for more than possible.
std::vector<Cut> equal_cuts(const NeuralNetwork& network, std::uint32_t stages);

}  // namespace gv
