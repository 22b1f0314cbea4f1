#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <memory>
#include <vector>

#include "gpu/bench/measure.h"
#include "gpu/replica/make_device_replica.h"
#include "optim/machine/stopwatch.h"
#include "optim/models/model.h"

namespace gv::gpu {
namespace {

bool failed = false;  ///< whether a row of the table failed

/// Least number of bytes that a gradient and its step of SGD with momentum move, with one kernel
/// per node. The forward pass writes and reads values, the backward pass reads them again;
/// gradients by values are written and read; weights are read in both passes, their gradients
/// written and read; velocity and weights are read and written by the step.
double least_bytes(const NeuralNetwork& network, std::uint32_t batch) {
  double values = 0;
  for (std::size_t i = 1; i < network.nodes.size(); ++i)
    values += static_cast<double>(network.nodes[i].out.elements()) * batch;
  return 4 * (5 * values + 8 * static_cast<double>(network.size()));
}

void put_training_row(const char* name,
                      const ModelSpec& model,
                      const Share& share,
                      std::uint32_t batch,
                      const Limits& limits) {
  OptimizerSpec sgd;
  sgd.momentum = 0.9;
  sgd.lr = 1e-3;
  std::printf("| %s, batch %u |", name, batch);
  for (std::size_t k = 0; k < precisions.size(); ++k) {
    try {
      const NeuralNetwork network = make_network(model, *share.train);
      const auto replica = make_replica(network, share, sgd, batch, Rng(1), 0, precisions[k]);
      const auto step = [&] { replica->gradient_and_step(); };
      const double t = median_time({.seconds = 0, .least = 30, .warmup = 6}, step).seconds;
      const double floor = std::max(network.gradient_flops(batch) / limits.matrix[k],
                                    least_bytes(network, batch) / limits.copy);
      std::printf(" %.0f | %.2f |", batch / t, floor / t);
    } catch (const CudaError& e) {
      std::printf(" failed | |");
      std::fprintf(stderr, "%s\n", e.what());
      failed = true;
    }
    std::fflush(stdout);
  }
  std::printf("\n");
}

}  // namespace

bool put_training() {
  const Limits limits = measure_limits();
  std::printf(
      "\nTraining on one device, samples per second (a gradient and its step), and the "
      "floor's share of the time\n");
  std::printf(
      "(the longer of: operations over the rate of 8192 x 8192 products, %.1f fp32, %.1f "
      "tf32, %.1f bf16 TFLOP/s;\nbytes over the copy in device memory, %.0f GB/s)\n\n",
      limits.matrix[0] * 1e-12, limits.matrix[1] * 1e-12, limits.matrix[2] * 1e-12,
      limits.copy * 1e-9);
  std::printf(
      "| model | fp32 | floor | tf32 | floor | bf16 | floor |\n|---|---|---|---|---|---|---|\n");
  ModelSpec resnet;
  resnet.kind = "resnet20";
  const Share seen = pictures();
  put_training_row("ResNet-20, 3 x 32 x 32", resnet, seen, 128, limits);
  put_training_row("ResNet-20, 3 x 32 x 32", resnet, seen, 1024, limits);
  ModelSpec mlp;
  mlp.values["hidden"] = Widths{4096, 4096};
  put_training_row("MLP 3072-4096-4096-10", mlp, seen, 1024, limits);
  ModelSpec transformer;
  transformer.kind = "transformer";
  transformer.values = {{"width", 256U}, {"heads", 8U}, {"layers", 4U}};
  put_training_row("transformer, 4 layers of 256, 128 tokens", transformer, text(), 64, limits);
  return !failed;
}

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
