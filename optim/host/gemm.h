#pragma once

namespace gv {

/// C (m x n) <- alpha op(A) op(B) + beta C, single precision, row-major, leading dimensions in
/// elements. op is the transpose where the flag says so; op(A) is m x k, op(B) is k x n. By oneDNN;
/// `grapevine bench gemm` measures it.
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

}  // namespace gv
