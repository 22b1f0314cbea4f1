#pragma once

#include <cmath>

// For .cu files only: relu and gelu of one value.

namespace gv::gpu {

__device__ inline float relu(float x) {
  return x < 0 ? 0.0F : x;
}

// gelu(x) = x/2 (1 + tanh u), u = a (x + b x^3); Hendrycks & Gimpel 2016, arXiv:1606.08415.
constexpr float gelu_a = 0.79788456080286536F;  // sqrt(2 / pi)
constexpr float gelu_b = 0.044715F;

__device__ inline float gelu(float x) {
  return 0.5F * x * (1 + tanhf(gelu_a * (x + gelu_b * x * x * x)));
}

__device__ inline float gelu_slope(float x) {
  const float t = tanhf(gelu_a * (x + gelu_b * x * x * x));
  const float slope = gelu_a * (1 + 3 * gelu_b * x * x);
  return 0.5F * (1 + t) + 0.5F * x * (1 - t * t) * slope;
}

/// Writes the value, or adds it if another consumer's share is there already.
__device__ inline void put(float* to, std::size_t k, float value, bool add) {
  to[k] = add ? to[k] + value : value;
}

}  // namespace gv::gpu
