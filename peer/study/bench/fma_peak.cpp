#include "peer/study/bench/fma_peak.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstring>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace gv {
namespace {

// Every loop over the chains is unrolled, or they would lie in memory and not in registers.

constexpr float factor = 0.999F;
constexpr float summand = 0.001F;

std::vector<float> starts(std::ptrdiff_t chains, std::ptrdiff_t width) {
  std::vector<float> values(static_cast<std::size_t>(chains) * static_cast<std::size_t>(width));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
  return values;
}

#if defined(__x86_64__)
constexpr std::ptrdiff_t wide_chains = 16;
constexpr std::ptrdiff_t wide_width = 16;

__attribute__((target("avx512f"))) std::vector<float> run_avx512(std::int64_t steps) {
  std::vector<float> values = starts(wide_chains, wide_width);
  __m512 v[wide_chains];
#pragma GCC unroll 16
  for (std::ptrdiff_t c = 0; c < wide_chains; ++c)
    v[c] = _mm512_loadu_ps(values.data() + c * wide_width);
  const __m512 a = _mm512_set1_ps(factor);
  const __m512 b = _mm512_set1_ps(summand);
  for (std::int64_t s = 0; s < steps; ++s) {
#pragma GCC unroll 16
    for (std::ptrdiff_t c = 0; c < wide_chains; ++c) v[c] = _mm512_fmadd_ps(v[c], a, b);
  }
#pragma GCC unroll 16
  for (std::ptrdiff_t c = 0; c < wide_chains; ++c)
    _mm512_storeu_ps(values.data() + c * wide_width, v[c]);
  return values;
}
#endif

constexpr int chains = 12;
constexpr int width = 8;

/// The compiler's own vectors: AVX2 on x86-64-v3, NEON elsewhere.
std::vector<float> run_portable(std::int64_t steps) {
  using Lane = float __attribute__((vector_size(width * sizeof(float))));
  std::vector<float> values = starts(chains, width);
  std::array<Lane, chains> v;
#pragma GCC unroll 12
  for (std::size_t c = 0; c < chains; ++c)
    std::memcpy(&v[c], values.data() + c * width, sizeof(Lane));
  const Lane a = Lane{} + factor;
  const Lane b = Lane{} + summand;
  for (std::int64_t s = 0; s < steps; ++s) {
#pragma GCC unroll 12
    for (Lane& lane : v) {
#if defined(__x86_64__)
      lane = _mm256_fmadd_ps(lane, a, b);
#else
      for (int k = 0; k < width; ++k) lane[k] = __builtin_fmaf(lane[k], a[k], b[k]);
#endif
    }
  }
#pragma GCC unroll 12
  for (std::size_t c = 0; c < chains; ++c)
    std::memcpy(values.data() + c * width, &v[c], sizeof(Lane));
  return values;
}

}  // namespace

std::vector<FmaUnit> fma_units() {
  std::vector<FmaUnit> units;
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f"))
    units.push_back({"AVX-512", int{wide_chains}, int{wide_width}, run_avx512});
  units.push_back({"AVX2", chains, width, run_portable});
#else
  units.push_back({"portable", chains, width, run_portable});
#endif
  return units;
}

FmaPeak measure_fma_peak(double seconds) {
  using Clock = std::chrono::steady_clock;
  constexpr std::int64_t steps = 200'000;
  const FmaUnit unit = fma_units().front();
  volatile float sink = 0;
  double best = 0;
  const Clock::time_point begin = Clock::now();
  do {
    const Clock::time_point start = Clock::now();
    sink = unit.run(steps).front();
    const double took = std::chrono::duration<double>(Clock::now() - start).count();
    best = std::max(best, unit.flops_per_step() * static_cast<double>(steps) / took);
  } while (std::chrono::duration<double>(Clock::now() - begin).count() < seconds);
  (void)sink;
  return {best * 1e-9, unit.name, unit.chains};
}

}  // namespace gv
