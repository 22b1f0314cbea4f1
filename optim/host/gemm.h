#pragma once

namespace gv {

/// C (m x n) <- alpha op(A) op(B) + beta C, single precision, row-major, leading dimensions in
/// elements. op is the transpose if its flag is set; op(A) is m x k, op(B) is k x n. Uses oneDNN;
/// experiments/models/gemm.cpp measures it.
void gemm(bool transpose_a,
          bool transpose_b,
          int m,
          int n,
          int k,
          float alpha,
          const float* a,
          int lda,
          const float* b,
          int ldb,
          float beta,
          float* c,
          int ldc);

/// The arithmetic of a fully connected layer on a batch: a [rows][in], y and dy [rows][out], weight
/// [out][in], bias [out], all row-major and without gaps.
struct FullyConnected {
  int rows, in, out;

  /// y <- a weight^T
  void multiply(const float* a, const float* weight, float* y) const;
  /// y <- y + bias, or its positive part.
  void add_bias(const float* bias, bool relu, float* y) const;
  /// dweight <- dy^T a
  void weight_gradient(const float* a, const float* dy, float* dweight) const;
  /// dbias <- sum over rows of dy
  void bias_gradient(const float* dy, float* dbias) const;
  /// da <- dy weight
  void input_gradient(const float* dy, const float* weight, float* da) const;
};

}  // namespace gv
