#pragma once

#include <cstddef>
#include <vector>

#include "graph/topology/topology.h"
#include "optim/models/network_builder.h"

namespace gv {

/// What one member of a stage has of a piece between two places (optim/models/network_cut.h).
struct MemberPiece {
  std::size_t parameters = 0;
  std::size_t floats_in = 0;   ///< of a row that it begins with; 0: those of the data
  std::size_t slot_bytes = 0;  ///< of a row that went forward and has not come back
  std::size_t told = 0;        ///< floats of a row that each other member is sent, there and back
  bool divided = false;        ///< else it has all of it
};

/// Of each piece, in their order. Empty: so many members cannot divide the network, since no layer
/// of it can be divided, or one that can has rows that they do not divide evenly.
std::vector<MemberPiece> member_pieces(const NeuralNetwork& network, PeerId members);

}  // namespace gv
