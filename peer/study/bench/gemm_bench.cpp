#include "peer/study/bench/gemm_bench.h"

#include <functional>
#include <numeric>

#include "optim/host/gemm.h"
#include "optim/stopwatch.h"
#include "optim/train/host_replica.h"
#include "optim/train/predictor.h"
#include "peer/study/bench/fma_peak.h"

namespace gv {
namespace {

constexpr int batch = 64;
constexpr int widths[] = {784, 256, 128, 10};

struct Product {
  std::string name;
  bool transpose_a, transpose_b;
  int m, n, k;
};

/// Forward and both backward products of every layer; the first layer needs no gradient of its
/// input.
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

/// Seconds of one call.
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

}  // namespace gv
