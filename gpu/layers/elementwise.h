#pragma once

#include <cstddef>
#include <cstdint>

#include <cuda_runtime_api.h>

#include "optim/models/network_builder.h"

// Relu and gelu, forward and backward.

namespace gv::gpu {

/// y (count) <- relu or gelu of x.
void activate(Op op, const float* x, float* y, std::size_t count, cudaStream_t stream);

/// dx <- the gradient by the argument of relu or gelu, or dx + that if `add`; dx may be dy. `from`:
/// a relu's value, which is positive exactly if its argument is; a gelu's argument.
void go_back_through(Op op,
                     const float* from,
                     const float* dy,
                     float* dx,
                     std::size_t count,
                     bool add,
                     cudaStream_t stream);

/// dx <- dy, or dx + dy if `add`; does nothing if dx is dy and not `add`.
void pass_on(const float* dy, float* dx, std::size_t count, bool add, cudaStream_t stream);

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
