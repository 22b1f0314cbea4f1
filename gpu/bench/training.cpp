#include <algorithm>
#include <cstdint>
#include <cstdio>

#include "gpu/bench/bench_samples.h"
#include "gpu/bench/measure.h"
#include "gpu/bench/tables.h"
#include "gpu/replica/make_device_replica.h"
#include "optim/models/model.h"
#include "optim/stopwatch.h"

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

}  // namespace gv::gpu
