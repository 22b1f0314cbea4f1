#pragma once

#include <cstdint>

#include <cuda_runtime_api.h>

#include "gpu/device/sum_pair.h"

// Loss of a minibatch of logits, on the device.

namespace gv::gpu {

/// Memory in which the losses of lines are summed.
struct LossSums {
  SumPair* partial;  ///< [blocks_for(lines)]: sums of each block of lines
  std::uint32_t* came;
  double* result;  ///< two values
};

/// result[0] <- the mean cross-entropy of `lines` rows of logits z (lines x classes), which become
/// its gradient; as softmax_cross_entropy.
void cross_entropy(float* z,
                   const std::uint8_t* labels,
                   std::uint32_t lines,
                   std::uint32_t classes,
                   const LossSums& sums,
                   cudaStream_t stream);
/// result[0] <- the sum of cross-entropies, result[1] <- the number of right answers; as
/// score_logits.
void score(const float* z,
           const std::uint8_t* labels,
           std::uint32_t lines,
           std::uint32_t classes,
           const LossSums& sums,
           cudaStream_t stream);

}  // namespace gv::gpu
