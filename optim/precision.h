#pragma once

#include <cstdint>

namespace gv {

/// The numbers that matrix products and convolutions compute with; everything else is float32
/// always, and so are the weights, the gradients and what peers exchange.
enum class Precision : std::uint8_t {
  fp32,  ///< float32 throughout
  tf32,  ///< factors rounded to 10 bits behind the point, sums in float32
  bf16,  ///< factors rounded to 7 bits behind the point, sums in float32
};

}  // namespace gv
