#pragma once

#include <cstdint>
#include <memory>

#include "gpu/device/device_memory.h"
#include "optim/precision.h"

namespace gv::gpu {

/// Stream of a replica and the libraries' handles on it. Each handle has its own workspace, so that
/// no call allocates and a captured call owns its memory.
class DeviceContext {
 public:
  explicit DeviceContext(Precision precision);
  ~DeviceContext();
  DeviceContext(const DeviceContext&) = delete;
  DeviceContext& operator=(const DeviceContext&) = delete;

  const Precision precision;
  Stream stream;
  /// Handle of cuDNN; only convolution_layer.cpp makes and uses it.
  std::shared_ptr<void> dnn;
  cublasHandle_t blas() const { return blas_; }

  /// Reserves room for `a` and `b` elements: the factors of a product in bfloat16. Call before the
  /// first product; does nothing for other precisions.
  void reserve_factors(std::size_t a, std::size_t b);
  void* factor_a() { return factor_a_.data(); }
  void* factor_b() { return factor_b_.data(); }
  /// Reserves room for a convolution's result in bfloat16, in elements; as reserve_factors.
  void reserve_result(std::size_t count);
  void* result() { return result_.data(); }
  /// Reserves scratch memory for the convolutions.
  void reserve_workspace(std::size_t bytes);
  void* workspace() { return workspace_.data(); }
  std::size_t workspace_bytes() const { return workspace_.size(); }
  /// Reserves scratch memory for a node within one pass, in floats.
  void reserve_scratch(std::size_t floats);
  float* scratch() { return scratch_.data(); }
  std::size_t factor_a_room() const { return factor_a_.size(); }
  std::size_t factor_b_room() const { return factor_b_.size(); }

 private:
  cublasHandle_t blas_ = nullptr;
  DeviceArray<std::uint8_t> blas_workspace_, workspace_;
  DeviceArray<std::uint16_t> factor_a_, factor_b_, result_;
  DeviceArray<float> scratch_;
};

/// C (m x n) <- alpha op(A) op(B) + beta C, row-major as optim/host/gemm.h.
struct Matrix {
  const float* data = nullptr;
  bool transposed = false;
  std::size_t row = 0;  ///< leading dimension
};
struct Product {
  std::uint32_t m = 0, n = 0, k = 0;
  Matrix a, b;
  float* c = nullptr;
  std::size_t c_row = 0;
  float alpha = 1, beta = 0;
};
void multiply(DeviceContext& context, const Product& p);

/// Matrices of one shape: the address of each, in the device's memory.
struct Matrices {
  float* const* data = nullptr;
  bool transposed = false;
  std::size_t row = 0;
};
/// One product per pair. With bf16 it uses tf32, which needs no rounded copies of the factors.
struct Products {
  std::uint32_t m = 0, n = 0, k = 0;
  Matrices a, b, c;
  float alpha = 1, beta = 0;
  std::uint32_t pairs = 1;
};
void multiply(DeviceContext& context, const Products& p);

/// to <- from, rounded to bfloat16: to the nearest, ties to even.
void to_bf16(const float* from, void* to, std::size_t count, cudaStream_t stream);
/// to <- from, or to + from if `add`.
void from_bf16(const void* from, float* to, std::size_t count, bool add, cudaStream_t stream);

}  // namespace gv::gpu
