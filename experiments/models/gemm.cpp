// Matrix products of an MLP step at their real shapes, and the processor's multiply-add peak for
// comparison, on one thread.

#include "optim/host/gemm.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "optim/check.h"
#include "optim/machine/stopwatch.h"
#include "optim/replica/host_replica.h"
#include "optim/train/predictor.h"

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
  Operands o{std::vector<float>(size(p.m, p.k)), std::vector<float>(size(p.k, p.n)),
             std::vector<float>(size(p.m, p.n))};
  Rng rng(7);
  rng.fill_normal(o.a);
  rng.fill_normal(o.b);
  return o;
}

void multiply(const Product& p, Operands& o) {
  gemm(p.transpose_a, p.transpose_b, p.m, p.n, p.k, 1, o.a.data(), p.transpose_a ? p.m : p.k,
       o.b.data(), p.transpose_b ? p.k : p.n, 0, o.c.data(), p.n);
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
                           sgd, batch, Rng(2));
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

/// Vectors that go through v <- a v + b on one vector unit, each from a different start. If two
/// started with the same values, a compiler could compute them once, and the measured peak would
/// exceed the processor's.
struct FmaUnit {
  const char* name;
  int chains;  ///< enough to hide the latency of two pipelines, few enough for the registers
  int width;   ///< floats of a vector
  /// Returns all lanes of all chains after `steps` steps.
  std::vector<float> (*run)(std::int64_t steps);
};

FmaUnit widest_unit() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f"))
    return {"AVX-512", int{wide_chains}, int{wide_width}, run_avx512};
  return {"AVX2", chains, width, run_portable};
#else
  return {"portable", chains, width, run_portable};
#endif
}

/// Returns GFLOP/s, the best of about `seconds`.
double measure_peak(const FmaUnit& unit, double seconds) {
  using Clock = std::chrono::steady_clock;
  constexpr std::int64_t steps = 200'000;
  const double lanes = unit.chains * unit.width;
  const std::vector<float> ends = unit.run(3);
  GV_CHECK(static_cast<double>(std::set<float>(ends.begin(), ends.end()).size()) == lanes,
           "each lane is computed");
  volatile float sink = 0;
  double best = 0;
  const Clock::time_point begin = Clock::now();
  do {
    const Clock::time_point start = Clock::now();
    sink = unit.run(steps).front();
    const double took = std::chrono::duration<double>(Clock::now() - start).count();
    best = std::max(best, 2 * lanes * static_cast<double>(steps) / took);
  } while (std::chrono::duration<double>(Clock::now() - begin).count() < seconds);
  (void)sink;
  return best * 1e-9;
}

void measure(double seconds) {
  const FmaUnit unit = widest_unit();
  const double peak = measure_peak(unit, seconds / 4);
  fmt::print("FMA peak, one thread, {}, {} chains that start apart: {:.1f} GFLOP/s\n", unit.name,
             unit.chains, peak);
  const std::vector<Product> products = mlp_products();
  std::vector<Operands> all;
  for (const Product& p : products) all.push_back(operands(p));
  const double share = seconds / static_cast<double>(2 * products.size());
  fmt::print("{:<26} {:>5} {:>5} {:>5} {:>10} {:>8}\n", "product", "m", "n", "k", "GFLOP/s",
             "of peak");
  for (std::size_t i = 0; i < products.size(); ++i) {
    const Product& p = products[i];
    const double took = seconds_of([&] { multiply(p, all[i]); }, share);
    const double gflops = 2e-9 * p.m * p.n * p.k / took;
    fmt::print("{:<26} {:>5} {:>5} {:>5} {:>10.1f} {:>8.2f}\n", p.name, p.m, p.n, p.k, gflops,
               gflops / peak);
  }
  const auto every_product = [&] {
    for (std::size_t i = 0; i < products.size(); ++i) multiply(products[i], all[i]);
  };
  const double gemms_us = 1e6 * seconds_of(every_product, seconds / 8);
  const std::unique_ptr<Replica> replica = mlp_replica();
  const auto step = [&] {
    replica->gradient();
    replica->step();
  };
  const double step_us = 1e6 * seconds_of(step, seconds / 8);
  fmt::print(
      "MLP 784-256-128-10, batch 64: products {:.0f} us, whole step {:.0f} us, ratio {:.2f}\n",
      gemms_us, step_us, step_us / gemms_us);
}

}  // namespace
}  // namespace gv

/// usage: experiment_gemm [SECONDS]
int main(int argc, char** argv) {
  gv::measure(argc > 1 ? std::atof(argv[1]) : 4);
}
