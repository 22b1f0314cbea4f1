#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <functional>
#include <numeric>

#include "optim/host/gemm.h"
#include "optim/stopwatch.h"
#include "optim/train/host_replica.h"
#include "optim/train/predictor.h"
#include "peer/study/bench/bench.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace gv {
namespace {

constexpr int batch = 64;
constexpr int widths[] = {784, 256, 128, 10};

struct Product {
  std::string name;
  bool transpose_a, transpose_b;
  int m, n, k;
};

/// Returns forward and backward products of all layers; the first needs no input gradient.
std::vector<Product> mlp_products() {
  std::vector<Product> products;
  for (int layer = 1; layer <= 3; ++layer) {
    const int in = widths[layer - 1];
    const int out = widths[layer];
    const std::string name = "layer " + std::to_string(layer);
    products.push_back({name + " forward", false, true, batch, out, in});
    products.push_back({name + " weight gradient", true, false, out, in, batch});
    if (layer > 1) products.push_back({name + " input gradient", false, false, batch, in, out});
  }
  return products;
}

struct Operands {
  std::vector<float> a, b, c;
};

Operands operands(const Product& p) {
  const auto size = [](int rows, int cols) {
    return static_cast<std::size_t>(rows) * static_cast<std::size_t>(cols);
  };
  Operands o{std::vector<float>(size(p.m, p.k)),
             std::vector<float>(size(p.k, p.n)),
             std::vector<float>(size(p.m, p.n))};
  Rng rng(7);
  rng.fill_normal(o.a);
  rng.fill_normal(o.b);
  return o;
}

void multiply(const Product& p, Operands& o) {
  gemm(p.transpose_a,
       p.transpose_b,
       p.m,
       p.n,
       p.k,
       1,
       o.a.data(),
       p.transpose_a ? p.m : p.k,
       o.b.data(),
       p.transpose_b ? p.k : p.n,
       0,
       o.c.data(),
       p.n);
}

/// Returns the median seconds of one call.
double seconds_of(const std::function<void()>& call, double seconds) {
  return median_time({.seconds = seconds, .calls = 20}, call).seconds;
}

std::unique_ptr<Replica> mlp_replica() {
  const TrainTest data = make_blobs(4096, 64, widths[0], widths[3], 3, Rng(3));
  std::vector<std::uint32_t> rows(data.train->rows);
  std::iota(rows.begin(), rows.end(), 0U);
  OptimizerSpec sgd;
  sgd.lr = 0.01;
  return make_host_replica(make_objective({"mlp", {{"hidden", Widths{256, 128}}}},
                                          {data.train, data.test, rows, Rng(1)}),
                           sgd,
                           batch,
                           Rng(2));
}

// Loops over the chains must be unrolled, or the chains would be in memory instead of registers.

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

/// Uses the compiler's vector types: AVX2 on x86-64-v3, NEON elsewhere.
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

GemmReport bench_gemm(double seconds) {
  const FmaPeak peak = measure_fma_peak(seconds / 4);
  GemmReport report{peak.gflops, peak.unit, peak.chains, {}, 0, 0};
  const std::vector<Product> products = mlp_products();
  std::vector<Operands> all;
  for (const Product& p : products) all.push_back(operands(p));
  const double share = seconds / static_cast<double>(2 * products.size());
  for (std::size_t i = 0; i < products.size(); ++i) {
    const Product& p = products[i];
    const double took = seconds_of([&] { multiply(p, all[i]); }, share);
    const double gflops = 2e-9 * p.m * p.n * p.k / took;
    report.rows.push_back({p.name, p.m, p.n, p.k, gflops, gflops / peak.gflops});
  }
  const auto every_product = [&] {
    for (std::size_t i = 0; i < products.size(); ++i) multiply(products[i], all[i]);
  };
  report.gemms_us = 1e6 * seconds_of(every_product, seconds / 8);
  const std::unique_ptr<Replica> replica = mlp_replica();
  const auto step = [&] {
    replica->gradient();
    replica->step();
  };
  report.step_us = 1e6 * seconds_of(step, seconds / 8);
  return report;
}

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
