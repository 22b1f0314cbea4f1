#pragma once

#include <cstdint>
#include <vector>

#include "optim/models/network_cut.h"

// Layers that several peers divide in themselves: the Parameter dimension of Jia, Zaharia & Aiken
// 2019, "Beyond data and model parallelism for deep neural networks", arXiv:1807.05358, section 4.
// Each of t members has out / t rows of a linear layer, and computes those columns of what comes
// out of it. All other layers each member has whole.

namespace gv {

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

}  // namespace gv
