#include "peer/bench/fma_peak.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace gv {
namespace {

constexpr int chains = 16;  // enough to cover the latency of two units

#if defined(__x86_64__)
__attribute__((target("avx512f"))) float fma_avx512(std::int64_t rounds) {
  __m512 a[chains];
  for (__m512& v : a) v = _mm512_setzero_ps();
  const __m512 x = _mm512_set1_ps(0.999F);
  const __m512 y = _mm512_set1_ps(0.001F);
  for (std::int64_t r = 0; r < rounds; ++r) {
#pragma GCC unroll 16
    for (int c = 0; c < chains; ++c) a[c] = _mm512_fmadd_ps(a[c], x, y);
  }
  float sum = 0;
  for (const __m512& v : a) sum += _mm512_cvtss_f32(v);
  return sum;
}
#endif

constexpr std::size_t width = 8;

/// The compiler's own vectors: AVX2 on x86-64-v3, NEON elsewhere.
float fma_portable(std::int64_t rounds) {
  using Lane = float __attribute__((vector_size(width * sizeof(float))));
  std::array<Lane, 12> a{};
  const Lane x = Lane{} + 0.999F;
  const Lane y = Lane{} + 0.001F;
  for (std::int64_t r = 0; r < rounds; ++r) {
    for (Lane& v : a) {
#if defined(__x86_64__)
      v = _mm256_fmadd_ps(v, x, y);
#else
      for (std::size_t k = 0; k < width; ++k) v[k] = __builtin_fmaf(v[k], x[k], y[k]);
#endif
    }
  }
  float sum = 0;
  for (const Lane& v : a) sum += v[0] + v[width - 1];
  return sum;
}

template <class Kernel>
double best_rate(Kernel kernel, double flops_per_round, double seconds) {
  using Clock = std::chrono::steady_clock;
  constexpr std::int64_t rounds = 200'000;
  volatile float sink = 0;
  double best = 0;
  const Clock::time_point begin = Clock::now();
  while (std::chrono::duration<double>(Clock::now() - begin).count() < seconds) {
    const Clock::time_point start = Clock::now();
    sink = kernel(rounds);
    const double took = std::chrono::duration<double>(Clock::now() - start).count();
    best = std::max(best, flops_per_round * static_cast<double>(rounds) / took);
  }
  (void)sink;
  return best * 1e-9;
}

}  // namespace

FmaPeak measure_fma_peak(double seconds) {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f"))
    return {best_rate(fma_avx512, 2.0 * 16 * chains, seconds), "AVX-512"};
  return {best_rate(fma_portable, 2.0 * 8 * 12, seconds), "AVX2"};
#else
  return {best_rate(fma_portable, 2.0 * 8 * 12, seconds), "portable"};
#endif
}

}  // namespace gv
