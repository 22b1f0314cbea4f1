#pragma once

#include <cstddef>
#include <span>

namespace gv {

/// The training state in front of the costs (costs.h), which is the replica's own: all of it where
/// there are none.
std::span<const std::byte> before_costs(std::span<const std::byte> state);

}  // namespace gv
