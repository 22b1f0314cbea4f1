#pragma once

#include <algorithm>
#include <array>
#include <cstddef>

// The four passes of a norm over one picture's block of channels. B channels lie side by side, the
// next pixel's `step` floats further; every loop over B is a vector instruction or two. Sums are of
// single precision over `single_run` pixels and of double beyond.

namespace gv {

/// y = a x + b, one of each for every channel.
struct Affine {
  const float* a;
  const float* b;
};

/// A block of pixels, from the first one's first channel.
struct Pixels {
  std::size_t count, step;
};

constexpr std::size_t single_run = 64;

/// sum += x, square += x^2.
template <std::size_t B>
void add_moments(const float* x, Pixels pixels, double* sum, double* square) {
  for (std::size_t first = 0; first < pixels.count; first += single_run) {
    std::array<float, B> s{};
    std::array<float, B> q{};
    for (std::size_t p = first; p < std::min(first + single_run, pixels.count); ++p) {
      for (std::size_t l = 0; l < B; ++l) {
        const float value = x[p * pixels.step + l];
        s[l] += value;
        q[l] += value * value;
      }
    }
    for (std::size_t l = 0; l < B; ++l) sum[l] += static_cast<double>(s[l]);
    for (std::size_t l = 0; l < B; ++l) square[l] += static_cast<double>(q[l]);
  }
}

/// y <- a x + b, or its positive part.
template <std::size_t B, bool relu>
void scale(const float* x, Pixels pixels, Affine to, float* y) {
  std::array<float, B> a;
  std::array<float, B> b;
  std::copy_n(to.a, B, a.begin());
  std::copy_n(to.b, B, b.begin());
  for (std::size_t p = 0; p < pixels.count; ++p) {
    for (std::size_t l = 0; l < B; ++l) {
      const float z = x[p * pixels.step + l] * a[l] + b[l];
      y[p * pixels.step + l] = relu ? std::max(z, 0.0F) : z;
    }
  }
}

/// sum += dz, product += dz x, where dz is dy, or dy where a x + b > 0.
template <std::size_t B, bool relu>
void add_gradient_moments(
    const float* x, const float* dy, Pixels pixels, Affine to, double* sum, double* product) {
  std::array<float, B> a;
  std::array<float, B> b;
  std::copy_n(to.a, B, a.begin());
  std::copy_n(to.b, B, b.begin());
  for (std::size_t first = 0; first < pixels.count; first += single_run) {
    std::array<float, B> s{};
    std::array<float, B> q{};
    for (std::size_t p = first; p < std::min(first + single_run, pixels.count); ++p) {
      for (std::size_t l = 0; l < B; ++l) {
        const float value = x[p * pixels.step + l];
        const float d = dy[p * pixels.step + l];
        const float dz = !relu || value * a[l] + b[l] > 0 ? d : 0.0F;
        s[l] += dz;
        q[l] += dz * value;
      }
    }
    for (std::size_t l = 0; l < B; ++l) sum[l] += static_cast<double>(s[l]);
    for (std::size_t l = 0; l < B; ++l) product[l] += static_cast<double>(q[l]);
  }
}

/// dx <- p dz + q x + r.
template <std::size_t B, bool relu>
void scale_gradient(const float* x,
                    const float* dy,
                    Pixels pixels,
                    Affine to,
                    std::array<const float*, 3> pqr,
                    float* dx) {
  std::array<float, B> a;
  std::array<float, B> b;
  std::array<std::array<float, B>, 3> k;
  std::copy_n(to.a, B, a.begin());
  std::copy_n(to.b, B, b.begin());
  for (std::size_t i = 0; i < 3; ++i) std::copy_n(pqr[i], B, k[i].begin());
  for (std::size_t p = 0; p < pixels.count; ++p) {
    for (std::size_t l = 0; l < B; ++l) {
      const std::size_t at = p * pixels.step + l;
      const float dz = !relu || x[at] * a[l] + b[l] > 0 ? dy[at] : 0.0F;
      dx[at] = dz * k[0][l] + x[at] * k[1][l] + k[2][l];
    }
  }
}

}  // namespace gv
