#include "optim/host/gemm.h"

#include <oneapi/dnnl/dnnl.h>

#include "optim/check.h"
#include "optim/host/slices.h"

namespace gv {
namespace {

/// Columns (of a narrow C: rows) that a slice has at least, and where it may end. The library takes
/// other kernels, with other sums, for fewer (64 x 127 x 784 of AVX-512); with as many, the bits
/// are those of the whole product on all shapes tried there.
constexpr std::size_t step = 128;

void check(dnnl_status_t status) {
  GV_CHECK(status == dnnl_success, "dnnl_sgemm accepts the shapes");
}

}  // namespace

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
          int ldc) {
  const bool by_rows = n < static_cast<int>(2 * step);
  const auto extent = static_cast<std::size_t>(by_rows ? m : n);
  const std::size_t slices = slices_of(2.0 * m * n * k, extent / step);
  run_slices(slices, [&](std::size_t i) {
    const auto from = static_cast<int>(slice_begin(i, slices, extent, step));
    const int count = static_cast<int>(slice_begin(i + 1, slices, extent, step)) - from;
    const std::ptrdiff_t row = by_rows ? from : 0;
    const std::ptrdiff_t column = by_rows ? 0 : from;
    keep_library_on_this_thread();
    check(dnnl_sgemm(transpose_a ? 'T' : 'N',
                     transpose_b ? 'T' : 'N',
                     by_rows ? count : m,
                     by_rows ? n : count,
                     k,
                     alpha,
                     a + (transpose_a ? row : row * lda),
                     lda,
                     b + (transpose_b ? column * ldb : column),
                     ldb,
                     beta,
                     c + row * ldc + column,
                     ldc));
  });
}

}  // namespace gv
