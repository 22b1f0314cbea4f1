#include "optim/host/fully_connected.h"

#include <algorithm>
#include <cmath>

#include "optim/host/gemm.h"

namespace gv {

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
