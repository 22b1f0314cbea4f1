#include <cuda_bf16.h>

#include "gpu/device/device_context.h"
#include "gpu/device/launch.h"
#include "optim/check.h"

namespace gv::gpu {
namespace {

/// Size that NVIDIA recommends for Hopper (cuBLAS documentation, cublasSetWorkspace).
constexpr std::size_t blas_bytes = std::size_t{32} << 20;

__global__ void to_bf16_kernel(const float* from, __nv_bfloat16* to, std::size_t count) {
  const std::size_t k = thread_index();
  if (k < count) to[k] = __float2bfloat16_rn(from[k]);
}

__global__ void from_bf16_kernel(const __nv_bfloat16* from,
                                 float* to,
                                 std::size_t count,
                                 bool add) {
  const std::size_t k = thread_index();
  if (k < count) to[k] = __bfloat162float(from[k]) + (add ? to[k] : 0.0F);
}

/// Returns the number of elements from the first to the last of a matrix of `rows` x `columns`.
std::size_t extent(const Matrix& m, std::size_t rows, std::size_t columns) {
  return (rows - 1) * m.row + columns;
}

cublasOperation_t as(bool transposed) {
  return transposed ? CUBLAS_OP_T : CUBLAS_OP_N;
}

int as_int(std::size_t value) {
  GV_CHECK(value <= 0x7fffffff, "cuBLAS counts in 32 bits");
  return static_cast<int>(value);
}

cublasComputeType_t compute_type(Precision precision, bool rounded) {
  const bool tf32 = precision == Precision::tf32 || (precision == Precision::bf16 && !rounded);
  return tf32 ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F;
}

}  // namespace

DeviceContext::DeviceContext(Precision precision_)
    : precision(precision_), blas_workspace_(blas_bytes, "the workspace of cuBLAS") {
  GV_CUDA(cublasCreate(&blas_));
  GV_CUDA(cublasSetStream(blas_, stream));
  GV_CUDA(cublasSetWorkspace(blas_, blas_workspace_.data(), blas_workspace_.size()));
  GV_CUDA(cublasSetPointerMode(blas_, CUBLAS_POINTER_MODE_HOST));
  GV_CUDA(cublasSetAtomicsMode(blas_, CUBLAS_ATOMICS_NOT_ALLOWED));
}

DeviceContext::~DeviceContext() {
  if (blas_ != nullptr) cublasDestroy(blas_);
}

void DeviceContext::reserve_factors(std::size_t a, std::size_t b) {
  if (precision != Precision::bf16) return;
  if (a > factor_a_.size()) factor_a_ = DeviceArray<std::uint16_t>(a, "factors in bfloat16");
  if (b > factor_b_.size()) factor_b_ = DeviceArray<std::uint16_t>(b, "factors in bfloat16");
}

void DeviceContext::reserve_result(std::size_t count) {
  if (precision != Precision::bf16 || count <= result_.size()) return;
  result_ = DeviceArray<std::uint16_t>(count, "results in bfloat16");
}

void DeviceContext::reserve_workspace(std::size_t bytes) {
  if (bytes <= workspace_.size()) return;
  workspace_ = {};
  workspace_ = DeviceArray<std::uint8_t>(bytes, "the workspace of cuDNN");
}

void DeviceContext::reserve_scratch(std::size_t floats) {
  if (floats <= scratch_.size()) return;
  scratch_ = {};
  scratch_ = DeviceArray<float>(floats, "what a layer computes with");
}

// cuBLAS is column-major: C^T = op(B)^T op(A)^T.
void multiply(DeviceContext& context, const Product& p) {
  const void* a = p.a.data;
  const void* b = p.b.data;
  cudaDataType_t type = CUDA_R_32F;
  const bool rounded = context.precision == Precision::bf16;
  if (rounded) {
    type = CUDA_R_16BF;
    const std::size_t a_count = extent(p.a, p.a.transposed ? p.k : p.m, p.a.transposed ? p.m : p.k);
    const std::size_t b_count = extent(p.b, p.b.transposed ? p.n : p.k, p.b.transposed ? p.k : p.n);
    GV_CHECK(a_count <= context.factor_a_room() && b_count <= context.factor_b_room(),
             "room for the factors was reserved");
    to_bf16(p.a.data, context.factor_a(), a_count, context.stream);
    to_bf16(p.b.data, context.factor_b(), b_count, context.stream);
    a = context.factor_a();
    b = context.factor_b();
  }
  GV_CUDA(cublasGemmEx(context.blas(), as(p.b.transposed), as(p.a.transposed), as_int(p.n),
                       as_int(p.m), as_int(p.k), &p.alpha, b, type, as_int(p.b.row), a, type,
                       as_int(p.a.row), &p.beta, p.c, CUDA_R_32F, as_int(p.c_row),
                       compute_type(context.precision, rounded), CUBLAS_GEMM_DEFAULT));
}

void multiply(DeviceContext& context, const Products& p) {
  const auto list = [](const Matrices& m) { return reinterpret_cast<const void* const*>(m.data); };
  GV_CUDA(cublasGemmBatchedEx(
      context.blas(), as(p.b.transposed), as(p.a.transposed), as_int(p.n), as_int(p.m), as_int(p.k),
      &p.alpha, list(p.b), CUDA_R_32F, as_int(p.b.row), list(p.a), CUDA_R_32F, as_int(p.a.row),
      &p.beta, reinterpret_cast<void* const*>(p.c.data), CUDA_R_32F, as_int(p.c.row),
      as_int(p.pairs), compute_type(context.precision, false), CUBLAS_GEMM_DEFAULT));
}

void to_bf16(const float* from, void* to, std::size_t count, cudaStream_t stream) {
  launch(to_bf16_kernel, count, stream, from, static_cast<__nv_bfloat16*>(to), count);
}

void from_bf16(const void* from, float* to, std::size_t count, bool add, cudaStream_t stream) {
  launch(from_bf16_kernel, count, stream, static_cast<const __nv_bfloat16*>(from), to, count, add);
}

}  // namespace gv::gpu
