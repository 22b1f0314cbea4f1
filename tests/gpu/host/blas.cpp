// The products of cuBLAS, by their definition. They overwrite the workspace, as the library may.
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

/// A matrix in cuBLAS's layout: column-major, `lda` elements from one column to the next.
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
  /// Notes that `rows` rows and `columns` columns are read.
  void note(size_t rows, size_t columns) const {
    const size_t bytes = type == CUDA_R_16BF ? 2 : 4;
    if (transposed) std::swap(rows, columns);
    for (size_t j = 0; j < columns; ++j)
      gv::host_cuda::note_read(static_cast<const char*>(data) + j * lda * bytes, rows * bytes);
  }
};

/// Eight parallel sums, so that the compiler vectorizes them.
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
/// Resets the workspace to the library's own, as cuBLAS documents.
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

namespace {

/// Arguments of a product.
struct Call {
  cublasOperation_t a_as, b_as;
  int m, n, k, lda, ldb, ldc, batch;
  cudaDataType_t a_type, b_type, c_type;
  cublasComputeType_t compute;
  float alpha, beta;

  bool fits() const {
    const bool sizes = m >= 0 && n >= 0 && k >= 0 && batch >= 0;
    return sizes && lda >= (a_as == CUBLAS_OP_N ? m : k) && ldb >= (b_as == CUBLAS_OP_N ? k : n) &&
           ldc >= m && c_type == CUDA_R_32F;
  }
  void run(const void* a, const void* b, void* c) const {
    const auto size = [](int value) { return static_cast<size_t>(value); };
    const bool tf32 = compute == CUBLAS_COMPUTE_32F_FAST_TF32;
    product({a, a_type, size(lda), a_as == CUBLAS_OP_T, tf32},
            {b, b_type, size(ldb), b_as == CUBLAS_OP_T, tf32}, size(m), size(n), size(k), alpha,
            beta, static_cast<float*>(c), size(ldc));
  }
};

float value_of(const void* scalar) {
  return *static_cast<const float*>(scalar);
}

/// Requires a workspace from the caller: the library's own would be allocated while a graph is
/// recorded.
template <class Work>
cublasStatus_t put(cublasHandle_t handle, const Call& call, Work work) {
  if (!call.fits() || handle->workspace == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  const size_t used = std::min<size_t>(handle->bytes, 4096);
  gv::host_cuda::enqueue(handle->stream, [call, work, used, workspace = handle->workspace] {
    gv::host_cuda::note_write(workspace, used);
    std::memset(workspace, 0xFF, used);
    work(call);
  });
  return CUBLAS_STATUS_SUCCESS;
}

}  // namespace

cublasStatus_t cublasGemmEx(cublasHandle_t handle,
                            cublasOperation_t a_as,
                            cublasOperation_t b_as,
                            int m,
                            int n,
                            int k,
                            const void* alpha,
                            const void* a,
                            cudaDataType_t a_type,
                            int lda,
                            const void* b,
                            cudaDataType_t b_type,
                            int ldb,
                            const void* beta,
                            void* c,
                            cudaDataType_t c_type,
                            int ldc,
                            cublasComputeType_t compute,
                            cublasGemmAlgo_t) {
  const Call call{a_as,          b_as, m,      n,      k,      lda,     ldb,
                  ldc,           1,    a_type, b_type, c_type, compute, value_of(alpha),
                  value_of(beta)};
  return put(handle, call, [a, b, c](const Call& one) { one.run(a, b, c); });
}

/// The lists are on the device, and are read when the products are computed.
cublasStatus_t cublasGemmBatchedEx(cublasHandle_t handle,
                                   cublasOperation_t a_as,
                                   cublasOperation_t b_as,
                                   int m,
                                   int n,
                                   int k,
                                   const void* alpha,
                                   const void* const a[],
                                   cudaDataType_t a_type,
                                   int lda,
                                   const void* const b[],
                                   cudaDataType_t b_type,
                                   int ldb,
                                   const void* beta,
                                   void* const c[],
                                   cudaDataType_t c_type,
                                   int ldc,
                                   int batch,
                                   cublasComputeType_t compute,
                                   cublasGemmAlgo_t) {
  const Call call{a_as,          b_as,  m,      n,      k,      lda,     ldb,
                  ldc,           batch, a_type, b_type, c_type, compute, value_of(alpha),
                  value_of(beta)};
  gv::host_cuda::must_be_on_device(a);
  gv::host_cuda::must_be_on_device(b);
  gv::host_cuda::must_be_on_device(c);
  return put(handle, call, [a, b, c](const Call& all) {
    const auto pairs = static_cast<size_t>(all.batch);
    for (const void* list :
         {static_cast<const void*>(a), static_cast<const void*>(b), static_cast<const void*>(c)})
      gv::host_cuda::note_read(list, pairs * sizeof(void*));
    for (size_t i = 0; i < pairs; ++i) all.run(a[i], b[i], c[i]);
  });
}
