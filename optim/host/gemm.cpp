#include "optim/host/gemm.h"

#include <algorithm>
#include <cmath>

#include <oneapi/dnnl/dnnl.h>

#include "optim/check.h"
#include "optim/host/slices.h"

namespace gv {
namespace {

/// Least number of columns of a slice (rows, for a narrow C), and unit of its borders. For fewer,
/// the library uses other kernels with other sums (64 x 127 x 784 with AVX-512); with this many,
/// the bits are those of the whole product on all tested shapes.
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
    check(dnnl_sgemm(transpose_a ? 'T' : 'N', transpose_b ? 'T' : 'N', by_rows ? count : m,
                     by_rows ? n : count, k, alpha, a + (transpose_a ? row : row * lda), lda,
                     b + (transpose_b ? column * ldb : column), ldb, beta, c + row * ldc + column,
                     ldc));
  });
}

void FullyConnected::multiply(const float* a, const float* weight, float* y) const {
  gemm(false, true, rows, out, in, 1, a, in, weight, in, 0, y, out);
}

void FullyConnected::add_bias(const float* bias, bool relu, float* y) const {
  const float floor = relu ? 0.0F : -INFINITY;
  for (int r = 0; r < rows; ++r, y += out)
    for (int c = 0; c < out; ++c) y[c] = std::max(y[c] + bias[c], floor);
}

void FullyConnected::weight_gradient(const float* a, const float* dy, float* dweight) const {
  gemm(true, false, out, in, rows, 1, dy, out, a, in, 0, dweight, in);
}

void FullyConnected::bias_gradient(const float* dy, float* dbias) const {
  std::fill_n(dbias, out, 0.0F);
  for (int r = 0; r < rows; ++r, dy += out)
    for (int c = 0; c < out; ++c) dbias[c] += dy[c];
}

void FullyConnected::input_gradient(const float* dy, const float* weight, float* da) const {
  gemm(false, false, rows, in, out, 1, dy, out, weight, in, 0, da, in);
}

}  // namespace gv
