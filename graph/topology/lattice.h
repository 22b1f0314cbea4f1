#pragma once

#include <string_view>

#include "graph/topology/family.h"

namespace gv {

inline constexpr GraphParameter shape_parameter{
    "shape",
    GraphParameter::Kind::shape,
    0,
    0,
    0,
    "rows and columns; by default as square as possible"};

/// The rows and columns of n peers: those of the shape, or the most square factorization of n where
/// it is open. Throws std::invalid_argument with both numbers unless it has n peers.
LatticeShape shape_for(std::string_view family, const LatticeShape& shape, PeerId n);

/// The parameters with an open shape filled in.
GraphParameters with_shape(const TopologyFamily& family, GraphParameters parameters, PeerId n);

}  // namespace gv
