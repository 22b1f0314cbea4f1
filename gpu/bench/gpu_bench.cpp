#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <exception>
#include <functional>
#include <string>

#include "gpu/kit.h"
#include "gpu/make_replica.h"
#include "gpu/memory.h"
#include "gpu/plugin.h"
#include "gpu/vector_kernels.h"

// What the device does beside what it could: training in samples per second, and beside its floor;
// the fused mixing and step beside a copy in the device's memory; the ways in and out of the
// replica beside plain copies over the bus. Prints tables in Markdown.

namespace gv::gpu {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t many = 25'600'000;  ///< parameters of a ResNet-50

/// Seconds of one call, the median of a few; `work` returns when the device is done.
double seconds(int repetitions, const std::function<void()>& work) {
  std::vector<double> times;
  work();
  for (int k = 0; k < repetitions; ++k) {
    const Clock::time_point start = Clock::now();
    work();
    times.push_back(std::chrono::duration<double>(Clock::now() - start).count());
  }
  std::ranges::sort(times);
  return times[times.size() / 2];
}

/// Seconds of one of `times` equal pieces of work in the stream, by the device's clock.
double device_seconds(const Stream& stream, int times, const std::function<void()>& work) {
  const Event begin(cudaEventDefault);
  const Event end(cudaEventDefault);
  work();
  begin.record(stream);
  for (int k = 0; k < times; ++k) work();
  end.record(stream);
  stream.wait();
  float ms = 0;
  GV_CUDA(cudaEventElapsedTime(&ms, begin, end));
  return static_cast<double>(ms) * 1e-3 / times;
}

/// Bytes per second of copies inside the device's memory, read and written.
double device_copy(const Stream& stream) {
  const std::size_t floats = std::size_t{1} << 28;
  DeviceArray<float> from(floats, "a copy");
  DeviceArray<float> to(floats, "a copy");
  const double t = device_seconds(stream, 20, [&] {
    copy_async(to.data(), from.data(), floats, cudaMemcpyDeviceToDevice, stream);
  });
  return 2 * static_cast<double>(floats) * sizeof(float) / t;
}

StepRule rule_of(StepRule::Kind kind) {
  StepRule rule;
  rule.kind = kind;
  rule.gamma = rule.size = 1e-3F;
  rule.momentum = rule.beta1 = 0.9F;
  rule.beta2 = 0.999F;
  rule.epsilon = 1e-8F;
  rule.root = 1;
  return rule;
}

void put_kernel_row(const char* name,
                    StepRule::Kind kind,
                    std::uint32_t neighbours,
                    double copy,
                    const Stream& stream) {
  const bool first = kind != StepRule::Kind::plain;
  const bool second = kind == StepRule::Kind::adam;
  DeviceArray<float> x(many, "x");
  DeviceArray<float> g(many, "g");
  DeviceArray<float> u(first ? many : 0, "u");
  DeviceArray<float> v(second ? many : 0, "v");
  DeviceArray<float> vectors(neighbours * many, "the neighbours' vectors");
  DeviceArray<float> weights(neighbours, "weights");
  DeviceArray<std::uint32_t> bad(neighbours, "marks");
  const Piece piece{
      .x = x.data(), .g = g.data(), .first = u.data(), .second = v.data(), .count = many};
  const Inflow in{.vectors = vectors.data(),
                  .weights = weights.data(),
                  .stride = many,
                  .n = neighbours,
                  .bad = bad.data()};
  const StepRule rule = rule_of(kind);
  const double t = device_seconds(stream, 50, [&] { mix_and_step(piece, in, rule, stream); });
  const double bytes = 4.0 * many * (3 + neighbours + (first ? 2 : 0) + (second ? 2 : 0));
  std::printf("| %s, %u neighbours | %.3f | %.0f | %.2f |\n",
              name,
              neighbours,
              t * 1e3,
              bytes / t * 1e-9,
              bytes / t / copy);
}

void kernels() {
  const Stream stream;
  const double copy = device_copy(stream);
  std::printf("\nMixing and step in one pass, %zu parameters; copy in device memory: %.0f GB/s\n\n",
              many,
              copy * 1e-9);
  std::printf("| pass | ms | GB/s | of the copy |\n|---|---|---|---|\n");
  for (const std::uint32_t n : {2U, 4U}) {
    put_kernel_row("sgd", StepRule::Kind::plain, n, copy, stream);
    put_kernel_row("sgd with momentum", StepRule::Kind::momentum, n, copy, stream);
    put_kernel_row("adam", StepRule::Kind::adam, n, copy, stream);
  }
}

/// Random bytes of the shape of CIFAR-10: what is in them does not change the time.
Share pictures() {
  auto data = std::make_shared<Dataset>();
  data->rows = 4096;
  data->features = 3 * 32 * 32;
  data->classes = 10;
  data->image = {3, 32, 32};
  Rng rng(1);
  for (std::size_t k = 0; k < std::size_t{data->rows} * data->features; ++k)
    data->bytes.push_back(static_cast<std::uint8_t>(rng.below(256)));
  for (std::uint32_t r = 0; r < data->rows; ++r)
    data->labels.push_back(static_cast<std::uint8_t>(rng.below(10)));
  data->shift = {0.5F};
  data->scale = {4};
  Share share{.train = data, .test = data, .rows = {}, .rng = Rng(2)};
  for (std::uint32_t r = 0; r < data->rows; ++r) share.rows.push_back(r);
  return share;
}

Share text() {
  auto data = std::make_shared<Dataset>();
  data->context = data->features = 128;
  data->rows = 65'536;
  data->classes = 96;
  Rng rng(1);
  for (std::uint32_t c = 0; c < data->classes; ++c)
    data->vocabulary.push_back(static_cast<std::uint8_t>(c + 32));
  for (std::uint32_t k = 0; k < data->rows + data->context; ++k)
    data->tokens.push_back(static_cast<std::uint8_t>(rng.below(data->classes)));
  Share share{.train = data, .test = data, .rows = {}, .rng = Rng(2)};
  for (std::uint32_t r = 0; r < data->rows; ++r) share.rows.push_back(r);
  return share;
}

bool failed = false;  ///< a row of the tables

constexpr std::array precisions{Precision::fp32, Precision::tf32, Precision::bf16};

/// Operations per second of a product of two square matrices.
double matrix_rate(Precision precision) {
  constexpr int n = 8192;
  constexpr std::size_t count = std::size_t{n} * n;
  const bool halves = precision == Precision::bf16;
  const cudaDataType_t type = halves ? CUDA_R_16BF : CUDA_R_32F;
  const cublasComputeType_t compute =
      precision == Precision::tf32 ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F;
  const Kit kit(precision);
  DeviceArray<std::uint8_t> a(count * (halves ? 2 : 4), "a factor");
  DeviceArray<std::uint8_t> b(a.size(), "a factor");
  DeviceArray<float> c(count, "a product");
  const float one = 1;
  const float zero = 0;
  const double t = device_seconds(kit.stream, 10, [&] {
    GV_CUDA(cublasGemmEx(kit.blas(),
                         CUBLAS_OP_N,
                         CUBLAS_OP_N,
                         n,
                         n,
                         n,
                         &one,
                         a.data(),
                         type,
                         n,
                         b.data(),
                         type,
                         n,
                         &zero,
                         c.data(),
                         CUDA_R_32F,
                         n,
                         compute,
                         CUBLAS_GEMM_DEFAULT));
  });
  return 2.0 * n * n * n / t;
}

/// Bytes that a gradient and its step of SGD with momentum move at the least, a kernel to a node:
/// values are written and read on the way there and read on the way back, gradients by them written
/// and read; weights are read on both ways, their gradients written and read, the velocity and the
/// weights read and written.
double least_bytes(const Network& network, std::uint32_t batch) {
  double values = 0;
  for (std::size_t i = 1; i < network.nodes.size(); ++i)
    values += static_cast<double>(network.nodes[i].out.elements()) * batch;
  return 4 * (5 * values + 8 * static_cast<double>(network.size()));
}

/// What the device could do.
struct Limits {
  double copy;                   ///< bytes per second, inside its memory
  std::array<double, 3> matrix;  ///< operations per second, by precision
};

Limits measure_limits() {
  const Stream stream;
  Limits limits{.copy = device_copy(stream), .matrix = {}};
  for (std::size_t k = 0; k < precisions.size(); ++k) limits.matrix[k] = matrix_rate(precisions[k]);
  return limits;
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
      const Network network = make_network(model, *share.train);
      const auto replica = make_replica(network, share, sgd, batch, Rng(1), 0, precisions[k]);
      const auto step = [&] { replica->gradient_and_step(); };
      for (int warm = 0; warm < 6; ++warm) step();
      const double t = seconds(30, step);
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

void training() {
  const Limits limits = measure_limits();
  std::printf(
      "\nTraining on one device, samples per second (a gradient and its step), and the "
      "floor's share of the time\n");
  std::printf(
      "(the longer of: operations over the rate of 8192 x 8192 products, %.1f fp32, %.1f "
      "tf32, %.1f bf16 TFLOP/s;\nbytes over the copy in device memory, %.0f GB/s)\n\n",
      limits.matrix[0] * 1e-12,
      limits.matrix[1] * 1e-12,
      limits.matrix[2] * 1e-12,
      limits.copy * 1e-9);
  std::printf(
      "| model | fp32 | floor | tf32 | floor | bf16 | floor |\n|---|---|---|---|---|---|---|\n");
  ModelSpec resnet;
  resnet.kind = "resnet20";
  const Share seen = pictures();
  put_training_row("ResNet-20, 3 x 32 x 32", resnet, seen, 128, limits);
  put_training_row("ResNet-20, 3 x 32 x 32", resnet, seen, 1024, limits);
  ModelSpec mlp;
  mlp.hidden = {4096, 4096};
  put_training_row("MLP 3072-4096-4096-10", mlp, seen, 1024, limits);
  ModelSpec transformer;
  transformer.kind = "transformer";
  transformer.width = 256;
  transformer.heads = 8;
  transformer.layers = 4;
  put_training_row("transformer, 4 layers of 256, 128 tokens", transformer, text(), 64, limits);
}

void put_copy_row(const char* name, double bytes, double t, double bus) {
  std::printf("| %s | %.2f | %.1f | %.2f |\n", name, t * 1e3, bytes / t * 1e-9, bytes / t / bus);
}

/// Bytes per second over the bus, page-locked memory.
double bus_speed(cudaMemcpyKind way, std::size_t floats, const Stream& stream) {
  PinnedArray<float> there(floats, "a copy");
  DeviceArray<float> here(floats, "a copy");
  const double t = device_seconds(stream, 20, [&] {
    way == cudaMemcpyHostToDevice ? copy_async(here.data(), there.data(), floats, way, stream)
                                  : copy_async(there.data(), here.data(), floats, way, stream);
  });
  return static_cast<double>(floats) * sizeof(float) / t;
}

/// In pieces of 512 KiB, as models travel.
void by_pieces(std::size_t d, const std::function<void(Range, std::size_t)>& body) {
  constexpr std::size_t piece = 131'072;
  for (std::size_t k = 0; k * piece < d; ++k) body({k * piece, std::min(piece, d - k * piece)}, k);
}

void ways_in_and_out() {
  ModelSpec mlp;
  mlp.hidden = {4096, 4096};
  OptimizerSpec sgd;
  sgd.momentum = 0.9;
  const Share share = pictures();
  const Network network = make_network(mlp, *share.train);
  const auto replica = make_replica(network, share, sgd, 128, Rng(1), 0, Precision::fp32);
  const std::size_t d = replica->size();
  const Stream stream;
  const double in = bus_speed(cudaMemcpyHostToDevice, d, stream);
  const double out = bus_speed(cudaMemcpyDeviceToHost, d, stream);
  std::printf("\nIn and out, %zu parameters; plain copies over the bus: %.1f GB/s in, %.1f out\n\n",
              d,
              in * 1e-9,
              out * 1e-9);
  std::printf("| call | ms | GB/s | of the plain copy |\n|---|---|---|---|\n");
  const double bytes = 4.0 * static_cast<double>(d);
  BufferPool pool(replica->buffer_memory());
  const std::shared_ptr<Buffer> whole = pool.acquire(d * sizeof(float));
  std::vector<std::shared_ptr<Buffer>> pieces;
  by_pieces(d,
            [&](Range r, std::size_t) { pieces.push_back(pool.acquire(r.count * sizeof(float))); });
  const auto time = [](const std::function<void()>& work) { return seconds(9, work); };
  put_copy_row("snapshot, whole",
               bytes,
               time([&] {
                 replica->snapshot(Vector::x, {0, d}, *whole);
               }),
               out);
  put_copy_row(
      "snapshot, pieces of 512 KiB",
      bytes,
      time([&] {
        by_pieces(d, [&](Range r, std::size_t k) { replica->snapshot(Vector::x, r, *pieces[k]); });
      }),
      out);
  put_copy_row("load, whole", bytes, time([&] { replica->load(Vector::x, {0, d}, *whole); }), in);
  put_copy_row("mix_and_step of 2 neighbours, whole",
               2 * bytes,
               time([&] {
                 replica->mix_and_step({0, d}, {{whole, whole}, {0.3F, 0.3F}});
               }),
               in);
  put_copy_row("mix_and_step of 2 neighbours, pieces",
               2 * bytes,
               time([&] {
                 by_pieces(d, [&](Range r, std::size_t k) {
                   replica->mix_and_step(r, {{pieces[k], pieces[k]}, {0.3F, 0.3F}});
                 });
               }),
               in);
}

int run() {
  const CudaStatus status = gv_cuda_plugin()->status();
  if (status.devices.empty()) {
    std::fprintf(stderr, "no CUDA device: %s\n", status.problem.c_str());
    return 5;
  }
  std::printf("%s, %s\n", status.devices[0].name.c_str(), status.versions.c_str());
  kernels();
  ways_in_and_out();
  training();
  return failed ? 1 : 0;
}

}  // namespace
}  // namespace gv::gpu

int main() {
  try {
    return gv::gpu::run();
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}
