#pragma once

#include <cstdint>

#include <cuda_runtime_api.h>

#include "gpu/device/sum_pair.h"

// What a minibatch of logits costs, on the device.

namespace gv::gpu {

/// The place where the losses of lines meet: a pair of sums for each block of lines, a count of the
/// blocks that have come, and what comes out.
struct LossSums {
  SumPair* partial;  ///< of blocks_for(lines)
  std::uint32_t* came;
  double* result;  ///< two
};

/// result[0] <- the mean cross-entropy of `lines` rows of logits z (lines x classes), which become
/// its gradient; as softmax_cross_entropy.
void cross_entropy(float* z,
                   const std::uint8_t* labels,
                   std::uint32_t lines,
                   std::uint32_t classes,
                   const LossSums& sums,
                   cudaStream_t stream);
/// result[0] <- the sum of the cross-entropies, result[1] <- the right answers; as score_logits.
void score(const float* z,
           const std::uint8_t* labels,
           std::uint32_t lines,
           std::uint32_t classes,
           const LossSums& sums,
           cudaStream_t stream);

}  // namespace gv::gpu
