#pragma once

#include <cstdint>

#include <cuda_runtime_api.h>

namespace gv::gpu {

/// y (rows x channels x pixels) += bias by channel, then relu if `relu`.
void add_channel_bias(float* y,
                      const float* bias,
                      std::uint32_t rows,
                      std::uint32_t channels,
                      std::uint32_t pixels,
                      bool relu,
                      cudaStream_t stream);
/// d_bias (channels) <- the sums of dy over rows and pixels.
void sum_channels(const float* dy,
                  float* d_bias,
                  std::uint32_t rows,
                  std::uint32_t channels,
                  std::uint32_t pixels,
                  cudaStream_t stream);

}  // namespace gv::gpu
