#pragma once

#include <cstddef>
#include <cstdint>

#include <cuda_runtime_api.h>

#include "gpu/device/arithmetic.h"

// The passes over vectors of length d. All pointers are the device's; each call puts one kernel
// into the stream and returns.

namespace gv::gpu {

/// A piece of the replica's vectors: `count` elements from where the pointers stand.
struct Piece {
  float* x = nullptr;
  const float* g = nullptr;
  float* first = nullptr;   ///< velocity or first moment; null where the rule keeps none
  float* second = nullptr;  ///< second moment; null where the rule keeps none
  std::size_t count = 0;
};

constexpr std::uint32_t few_flows = 16;

/// The vectors that flow into a piece. Of few, each lies where it likes, and its weight goes with
/// the kernel; of more, vector j begins at vectors + j * stride.
struct Inflow {
  const float* few[few_flows]{};
  float weights_of_few[few_flows]{};
  const float* vectors = nullptr;
  const float* weights = nullptr;  ///< n; null: they are few
  std::size_t stride = 0;          ///< a multiple of 4
  std::uint32_t n = 0;
  std::uint32_t* bad = nullptr;  ///< n: set to 1 where vector j holds a value that is not finite
};

/// x <- x + sum_j w_j (vector_j - x), summed in the order of j, without what is not finite.
void mix(const Piece& piece, const Inflow& in, cudaStream_t stream);
/// x <- x + sum_j w_j (vector_j - x) - gamma direction(g), one pass.
void mix_and_step(const Piece& piece, const Inflow& in, const StepRule& rule, cudaStream_t stream);
/// x <- x - gamma direction(g).
void step(const Piece& piece, const StepRule& rule, cudaStream_t stream);
/// Does the same by a rule of this kind in the device's memory, read when the kernel runs: what is
/// recorded once steps by another rate each time.
void step(const Piece& piece, StepRule::Kind kind, const StepRule* rule, cudaStream_t stream);

/// x <- x + w (theirs - ours), without what is not finite; *bad <- 1 when theirs is not.
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
/// *bad <- 1 when v holds a value that is not finite.
void look_for_not_finite(const float* v,
                         std::size_t count,
                         std::uint32_t* bad,
                         cudaStream_t stream);

}  // namespace gv::gpu
