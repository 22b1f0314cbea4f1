#pragma once

#include <cstdint>
#include <memory>

#include "gpu/device/memory.h"
#include "optim/precision.h"

namespace gv::gpu {

/// A replica's stream and the libraries' handles on it, with a workspace of their own, so that no
/// call allocates and a captured one owns its memory.
class DeviceContext {
 public:
  explicit DeviceContext(Precision precision);
  ~DeviceContext();
  DeviceContext(const DeviceContext&) = delete;
  DeviceContext& operator=(const DeviceContext&) = delete;

  const Precision precision;
  Stream stream;
  /// The handle of cuDNN, made and known by convolution.cpp alone.
  std::shared_ptr<void> dnn;
  cublasHandle_t blas() const { return blas_; }

  /// Room for the factors of a product in bfloat16: so many elements each. Call before the first
  /// product; does nothing for other precisions.
  void reserve_factors(std::size_t a, std::size_t b);
  void* factor_a() { return factor_a_.data(); }
  void* factor_b() { return factor_b_.data(); }
  /// Room for what a convolution returns in bfloat16, so many elements; as reserve_factors.
  void reserve_result(std::size_t count);
  void* result() { return result_.data(); }
  /// Scratch memory of the convolutions.
  void reserve_workspace(std::size_t bytes);
  void* workspace() { return workspace_.data(); }
  std::size_t workspace_bytes() const { return workspace_.size(); }
  /// So many ones on the device, for sum_rows.
  void reserve_ones(std::size_t count);
  const float* ones() const { return ones_.data(); }
  std::size_t factor_a_room() const { return factor_a_.size(); }
  std::size_t factor_b_room() const { return factor_b_.size(); }

 private:
  cublasHandle_t blas_ = nullptr;
  DeviceArray<std::uint8_t> blas_workspace_, workspace_;
  DeviceArray<std::uint16_t> factor_a_, factor_b_, result_;
  DeviceArray<float> ones_;
};

/// C (m x n) <- alpha op(A) op(B) + beta C, row-major as optim/host/gemm.h. `batch` products: each
/// factor `stride` elements behind the one before.
struct Matrix {
  const float* data = nullptr;
  bool transposed = false;
  std::size_t row = 0;     ///< leading dimension
  std::size_t stride = 0;  ///< between the matrices of a batch
};
struct Product {
  std::uint32_t m = 0, n = 0, k = 0;
  Matrix a, b;
  float* c = nullptr;
  std::size_t c_row = 0, c_stride = 0;
  float alpha = 1, beta = 0;
  std::uint32_t batch = 1;
  bool keeps_factors = false;  ///< for bf16: tf32 instead, which rounds no copy of them
};
void multiply(DeviceContext& context, const Product& p);

/// sum (columns) <- the sum over the rows of v (rows x columns), in float32. So many ones were
/// reserved.
void sum_rows(const DeviceContext& context,
              const float* v,
              std::uint32_t rows,
              std::uint32_t columns,
              float* sum);

/// to <- from, rounded to bfloat16: to the nearest, ties to even.
void to_bf16(const float* from, void* to, std::size_t count, cudaStream_t stream);
/// to <- from, or to + from where `add`.
void from_bf16(const void* from, float* to, std::size_t count, bool add, cudaStream_t stream);

}  // namespace gv::gpu
