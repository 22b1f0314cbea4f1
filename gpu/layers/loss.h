#pragma once

#include <cstdint>

#include <cuda_runtime_api.h>

// What a minibatch of logits costs, on the device.

namespace gv::gpu {

/// loss <- the mean cross-entropy of `lines` rows of logits z (lines x classes), which become its
/// gradient; as softmax_cross_entropy. losses: room for `lines`.
void cross_entropy(float* z,
                   const std::uint8_t* labels,
                   std::uint32_t lines,
                   std::uint32_t classes,
                   double* losses,
                   double* loss,
                   cudaStream_t stream);
/// score[0] <- the sum of the cross-entropies, score[1] <- the right answers; as score_logits.
void score(const float* z,
           const std::uint8_t* labels,
           std::uint32_t lines,
           std::uint32_t classes,
           double* losses,
           double* score,
           cudaStream_t stream);

}  // namespace gv::gpu
