#pragma once

#include <cstdint>

namespace gv {

/// The number format of matrix products and convolutions. All else is float32: weights, gradients,
/// and the vectors that peers exchange.
enum class Precision : std::uint8_t {
  fp32,  ///< float32 throughout
  tf32,  ///< factors with 10 fraction bits, sums in float32
  bf16,  ///< factors with 7 fraction bits, sums in float32
};

}  // namespace gv
