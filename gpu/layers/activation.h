#pragma once

#include <cstddef>

#include <cuda_runtime_api.h>

#include "optim/models/network_builder.h"

// Relu and gelu, and the ways back through them.

namespace gv::gpu {

/// y (count) <- relu or gelu of x.
void activate(Op op, const float* x, float* y, std::size_t count, cudaStream_t stream);

/// dx <- the gradient by the argument of relu or gelu, or dx + that where `add`; dx may be dy.
/// `from`: a relu's value, which is positive where its argument is; a gelu's argument.
void go_back_through(Op op,
                     const float* from,
                     const float* dy,
                     float* dx,
                     std::size_t count,
                     bool add,
                     cudaStream_t stream);

/// dx <- dy, or dx + dy where `add`; nothing to do where dx is dy already.
void pass_on(const float* dy, float* dx, std::size_t count, bool add, cudaStream_t stream);

}  // namespace gv::gpu
