// The products of cuBLAS, by their definition. The workspace is scribbled over, as the library may.
#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "cublas_v2.h"
#include "cuda_bf16.h"
#include "tests/gpu/host/host_cuda.h"
#include "tests/gpu/host/watch.h"

struct HostBlas {
  cudaStream_t stream = nullptr;
  void* workspace = nullptr;
  std::size_t bytes = 0;
};

namespace {

using std::size_t;

/// A matrix as cuBLAS has it: column-major, `lda` elements from one column to the next.
struct Matrix {
  const void* data;
  cudaDataType_t type;
  size_t lda;
  bool transposed, tf32;

  float at(size_t row, size_t column) const {
    const size_t k = transposed ? row * lda + column : column * lda + row;
    if (type == CUDA_R_16BF) return __bfloat162float(static_cast<const __nv_bfloat16*>(data)[k]);
    const float value = static_cast<const float*>(data)[k];
    return tf32 ? gv_host_tf32(value) : value;
  }
  /// Of so many rows and columns.
  void note(size_t rows, size_t columns) const {
    const size_t bytes = type == CUDA_R_16BF ? 2 : 4;
    if (transposed) std::swap(rows, columns);
    for (size_t j = 0; j < columns; ++j)
      gv::host_cuda::note_read(static_cast<const char*>(data) + j * lda * bytes, rows * bytes);
  }
  Matrix moved(long long elements) const {
    const long long bytes = elements * (type == CUDA_R_16BF ? 2 : 4);
    return {static_cast<const char*>(data) + bytes, type, lda, transposed, tf32};
  }
};

/// Eight sums side by side, so that the compiler takes them at once.
float dot(const float* a, const float* b, size_t n) {
  float lanes[8] = {};
  size_t p = 0;
  for (; p + 8 <= n; p += 8)
    for (size_t q = 0; q < 8; ++q) lanes[q] += a[p + q] * b[p + q];
  float sum = 0;
  for (const float lane : lanes) sum += lane;
  for (; p < n; ++p) sum += a[p] * b[p];
  return sum;
}

/// C <- alpha A B + beta C, with A [m, k] and B [k, n].
void product(const Matrix& a,
             const Matrix& b,
             size_t m,
             size_t n,
             size_t k,
             float alpha,
             float beta,
             float* c,
             size_t ldc) {
  a.note(m, k);
  b.note(k, n);
  for (size_t j = 0; j < n; ++j) {
    if (beta != 0) gv::host_cuda::note_read(c + j * ldc, m * sizeof *c);
    gv::host_cuda::note_write(c + j * ldc, m * sizeof *c);
  }
  std::vector<float> rows(m * k), column(k);
  for (size_t i = 0; i < m; ++i)
    for (size_t p = 0; p < k; ++p) rows[i * k + p] = a.at(i, p);
  for (size_t j = 0; j < n; ++j) {
    for (size_t p = 0; p < k; ++p) column[p] = b.at(p, j);
    for (size_t i = 0; i < m; ++i) {
      float& to = c[j * ldc + i];
      const float sum = alpha * dot(rows.data() + i * k, column.data(), k);
      to = beta == 0 ? sum : sum + beta * to;
    }
  }
}

}  // namespace

const char* cublasGetStatusString(cublasStatus_t status) {
  return status == CUBLAS_STATUS_SUCCESS ? "success" : "invalid value";
}
cublasStatus_t cublasCreate(cublasHandle_t* handle) {
  *handle = new HostBlas;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasDestroy(cublasHandle_t handle) {
  delete handle;
  return CUBLAS_STATUS_SUCCESS;
}
/// The workspace is the library's own again, as cuBLAS says.
cublasStatus_t cublasSetStream(cublasHandle_t handle, cudaStream_t stream) {
  handle->stream = stream;
  handle->workspace = nullptr;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasSetWorkspace(cublasHandle_t handle, void* workspace, size_t bytes) {
  handle->workspace = workspace;
  handle->bytes = bytes;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasSetPointerMode(cublasHandle_t, cublasPointerMode_t) {
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasSetAtomicsMode(cublasHandle_t, cublasAtomicsMode_t) {
  return CUBLAS_STATUS_SUCCESS;
}

/// Only with a workspace of the caller's: the library's own would be allocated while a graph is
/// recorded.
cublasStatus_t cublasGemmStridedBatchedEx(cublasHandle_t handle,
                                          cublasOperation_t a_as,
                                          cublasOperation_t b_as,
                                          int m,
                                          int n,
                                          int k,
                                          const void* alpha,
                                          const void* a,
                                          cudaDataType_t a_type,
                                          int lda,
                                          long long a_step,
                                          const void* b,
                                          cudaDataType_t b_type,
                                          int ldb,
                                          long long b_step,
                                          const void* beta,
                                          void* c,
                                          cudaDataType_t c_type,
                                          int ldc,
                                          long long c_step,
                                          int batch,
                                          cublasComputeType_t compute,
                                          cublasGemmAlgo_t) {
  const bool fits =
      lda >= (a_as == CUBLAS_OP_N ? m : k) && ldb >= (b_as == CUBLAS_OP_N ? k : n) && ldc >= m;
  const bool sizes = m >= 0 && n >= 0 && k >= 0 && batch >= 0;
  if (!sizes || !fits || c_type != CUDA_R_32F || handle->workspace == nullptr)
    return CUBLAS_STATUS_INVALID_VALUE;
  const bool tf32 = compute == CUBLAS_COMPUTE_32F_FAST_TF32;
  const Matrix left{a, a_type, static_cast<size_t>(lda), a_as == CUBLAS_OP_T, tf32};
  const Matrix right{b, b_type, static_cast<size_t>(ldb), b_as == CUBLAS_OP_T, tf32};
  const auto size = [](int value) { return static_cast<size_t>(value); };
  gv::host_cuda::enqueue(handle->stream,
                         [=,
                          by = *static_cast<const float*>(alpha),
                          old = *static_cast<const float*>(beta),
                          workspace = handle->workspace,
                          bytes = handle->bytes] {
                           const size_t used = std::min<size_t>(bytes, 4096);
                           gv::host_cuda::note_write(workspace, used);
                           std::memset(workspace, 0xFF, used);
                           for (int i = 0; i < batch; ++i)
                             product(left.moved(i * a_step),
                                     right.moved(i * b_step),
                                     size(m),
                                     size(n),
                                     size(k),
                                     by,
                                     old,
                                     static_cast<float*>(c) + i * c_step,
                                     size(ldc));
                         });
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasSgemv(cublasHandle_t handle,
                           cublasOperation_t as,
                           int m,
                           int n,
                           const float* alpha,
                           const float* a,
                           int lda,
                           const float* x,
                           int incx,
                           const float* beta,
                           float* y,
                           int incy) {
  if (lda < m || incx != 1 || incy != 1) return CUBLAS_STATUS_INVALID_VALUE;
  const Matrix matrix{a, CUDA_R_32F, static_cast<size_t>(lda), as == CUBLAS_OP_T, false};
  const auto rows = static_cast<size_t>(as == CUBLAS_OP_N ? m : n);
  const auto columns = static_cast<size_t>(as == CUBLAS_OP_N ? n : m);
  gv::host_cuda::enqueue(handle->stream, [=, by = *alpha, old = *beta] {
    matrix.note(rows, columns);
    gv::host_cuda::note_read(x, columns * sizeof *x);
    gv::host_cuda::note_write(y, rows * sizeof *y);
    for (size_t i = 0; i < rows; ++i) {
      double sum = 0;
      for (size_t p = 0; p < columns; ++p) sum += static_cast<double>(matrix.at(i, p)) * x[p];
      y[i] = static_cast<float>(old == 0 ? by * sum : by * sum + old * y[i]);
    }
  });
  return CUBLAS_STATUS_SUCCESS;
}
