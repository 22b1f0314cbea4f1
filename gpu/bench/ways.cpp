#include <algorithm>
#include <cstdio>
#include <functional>
#include <memory>
#include <vector>

#include "gpu/bench/bench_samples.h"
#include "gpu/bench/measure.h"
#include "gpu/bench/tables.h"
#include "gpu/replica/make_device_replica.h"
#include "optim/models/model.h"
#include "optim/stopwatch.h"

namespace gv::gpu {
namespace {

void put_copy_row(const char* name, double bytes, double t, double bus) {
  std::printf("| %s | %.2f | %.1f | %.2f |\n", name, t * 1e3, bytes / t * 1e-9, bytes / t / bus);
}

/// Calls body(range, number) for each piece of 512 KiB, the unit in which models travel.
void by_pieces(std::size_t d, const std::function<void(Range, std::size_t)>& body) {
  constexpr std::size_t piece = 131'072;
  for (std::size_t k = 0; k * piece < d; ++k) body({k * piece, std::min(piece, d - k * piece)}, k);
}

}  // namespace

void put_ways_in_and_out() {
  ModelSpec mlp;
  mlp.values["hidden"] = Widths{4096, 4096};
  OptimizerSpec sgd;
  sgd.momentum = 0.9;
  const Share share = pictures();
  const NeuralNetwork network = make_network(mlp, *share.train);
  const auto replica = make_replica(network, share, sgd, 128, Rng(1), 0, Precision::fp32);
  const std::size_t d = replica->size();
  const Stream stream;
  const double in = bus_speed(cudaMemcpyHostToDevice, d, stream);
  const double out = bus_speed(cudaMemcpyDeviceToHost, d, stream);
  std::printf("\nIn and out, %zu parameters; plain copies over the bus: %.1f GB/s in, %.1f out\n\n",
              d, in * 1e-9, out * 1e-9);
  std::printf("| call | ms | GB/s | of the plain copy |\n|---|---|---|---|\n");
  const double bytes = 4.0 * static_cast<double>(d);
  BufferPool pool(replica->buffer_memory());
  const std::shared_ptr<Buffer> whole = pool.acquire(d * sizeof(float));
  std::vector<std::shared_ptr<Buffer>> pieces;
  by_pieces(d,
            [&](Range r, std::size_t) { pieces.push_back(pool.acquire(r.count * sizeof(float))); });
  const auto time = [](const std::function<void()>& work) {
    return median_time({.seconds = 0, .least = 9}, work).seconds;
  };
  put_copy_row("snapshot, whole", bytes, time([&] {
                 replica->snapshot(Vector::x, {0, d}, *whole);
               }),
               out);
  put_copy_row(
      "snapshot, pieces of 512 KiB", bytes, time([&] {
        by_pieces(d, [&](Range r, std::size_t k) { replica->snapshot(Vector::x, r, *pieces[k]); });
      }),
      out);
  put_copy_row("load, whole", bytes, time([&] { replica->load(Vector::x, {0, d}, *whole); }), in);
  put_copy_row("mix_and_step of 2 neighbours, whole", 2 * bytes, time([&] {
                 replica->mix_and_step({0, d}, {{whole, whole}, {0.3F, 0.3F}});
               }),
               in);
  put_copy_row("mix_and_step of 2 neighbours, pieces", 2 * bytes, time([&] {
                 by_pieces(d, [&](Range r, std::size_t k) {
                   replica->mix_and_step(r, {{pieces[k], pieces[k]}, {0.3F, 0.3F}});
                 });
               }),
               in);
}

}  // namespace gv::gpu
