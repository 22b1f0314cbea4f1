#pragma once

#include <string>

#include <cublas_v2.h>
#include <cuda_runtime_api.h>

namespace gv::gpu {

/// Throw CudaError unless the call succeeded.
void check(cudaError_t status, const char* call, const char* file, int line);
void check(cublasStatus_t status, const char* call, const char* file, int line);

/// Prints to stderr that something differs from what was requested although training continues. A
/// peer's stderr goes to its log.
void notice(const std::string& what);

}  // namespace gv::gpu

/// Every call of the CUDA runtime and of cuBLAS goes through this.
#define GV_CUDA(call) ::gv::gpu::check((call), #call, __FILE__, __LINE__)
