#pragma once

#include <cstddef>
#include <cstdint>

#include <cuda_runtime_api.h>

#include "gpu/device/arithmetic.h"

// Passes over vectors of length d. All pointers are the device's; each call puts one kernel into
// the stream and returns.

namespace gv::gpu {

/// A piece of the replica's vectors: `count` elements from the pointers on.
struct Piece {
  float* x = nullptr;
  const float* g = nullptr;
  float* first = nullptr;   ///< velocity or first moment; null if the rule keeps none
  float* second = nullptr;  ///< second moment; null if the rule keeps none
  std::size_t count = 0;
};

constexpr std::uint32_t few_flows = 16;

/// Vectors that flow into a piece. If they are few, each has its own address and its weight is an
/// argument of the kernel. Otherwise vector j begins at vectors + j * stride.
struct Inflow {
  const float* few[few_flows]{};
  float weights_of_few[few_flows]{};
  const float* vectors = nullptr;
  const float* weights = nullptr;  ///< n weights; null if the vectors are few
  std::size_t stride = 0;          ///< a multiple of 4
  std::uint32_t n = 0;
  std::uint32_t* bad = nullptr;  ///< [n]: set to 1 if vector j holds a value that is not finite
};

/// x <- x + sum_j w_j (vector_j - x), summed in the order of j; terms that are not finite count 0.
void mix(const Piece& piece, const Inflow& in, cudaStream_t stream);
/// x <- x + sum_j w_j (vector_j - x) - gamma direction(g), one pass.
void mix_and_step(const Piece& piece, const Inflow& in, const StepRule& rule, cudaStream_t stream);
/// x <- x - gamma direction(g).
void step(const Piece& piece, const StepRule& rule, cudaStream_t stream);
/// Does so by a rule in the device's memory that is read when the kernel runs: a recording can step
/// with another rate each time.
void step(const Piece& piece, StepRule::Kind kind, const StepRule* rule, cudaStream_t stream);

/// x <- x + w (theirs - ours), leaving out terms that are not finite; *bad <- 1 if theirs is not.
void add_flow(float* x,
              float w,
              const float* theirs,
              const float* ours,
              std::size_t count,
              std::uint32_t* bad,
              cudaStream_t stream);
void add(float* v, const float* in, std::size_t count, cudaStream_t stream);
void scale(float* v, float factor, std::size_t count, cudaStream_t stream);
/// to <- a from + b to; from and to may be the same.
void axpby(float a, const float* from, float b, float* to, std::size_t count, cudaStream_t stream);
/// *bad <- 1 if v holds a value that is not finite.
void look_for_not_finite(const float* v,
                         std::size_t count,
                         std::uint32_t* bad,
                         cudaStream_t stream);

}  // namespace gv::gpu
