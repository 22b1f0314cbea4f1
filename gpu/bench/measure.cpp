#include "gpu/bench/measure.h"

#include <algorithm>
#include <cstdint>
#include <memory>

#include "gpu/device/device_context.h"
#include "optim/rng.h"

namespace gv::gpu {
namespace {

/// Returns a square factor of random numbers, float32 or bfloat16. Zeros would not do: a
/// device multiplies zeros with less power, and so faster.
DeviceArray<std::uint8_t> random_factor(std::size_t count, bool halves, const Stream& stream) {
  constexpr std::size_t drawn = std::size_t{1} << 20;
  PinnedArray<float> numbers(drawn, "a factor");
  Rng(1).fill_normal({numbers.data(), drawn});
  DeviceArray<float> some(drawn, "a factor");
  copy_async(some.data(), numbers.data(), drawn, cudaMemcpyHostToDevice, stream);
  DeviceArray<std::uint8_t> factor(count * (halves ? 2 : 4), "a factor");
  for (std::size_t done = 0; done < count; done += drawn) {
    const std::size_t part = std::min(drawn, count - done);
    if (halves)
      to_bf16(some.data(), factor.data() + 2 * done, part, stream);
    else
      copy_async(reinterpret_cast<float*>(factor.data()) + done, some.data(), part,
                 cudaMemcpyDeviceToDevice, stream);
  }
  stream.wait();
  return factor;
}

/// Returns the operations per second of a product of two square matrices.
double matrix_rate(Precision precision) {
  constexpr int n = 8192;
  constexpr std::size_t count = std::size_t{n} * n;
  const bool halves = precision == Precision::bf16;
  const cudaDataType_t type = halves ? CUDA_R_16BF : CUDA_R_32F;
  const cublasComputeType_t compute =
      precision == Precision::tf32 ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F;
  const DeviceContext context(precision);
  const DeviceArray<std::uint8_t> a = random_factor(count, halves, context.stream);
  const DeviceArray<std::uint8_t> b = random_factor(count, halves, context.stream);
  DeviceArray<float> c(count, "a product");
  const float one = 1;
  const float zero = 0;
  const double t = device_seconds(context.stream, 10, [&] {
    GV_CUDA(cublasGemmEx(context.blas(), CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, &one, a.data(), type, n,
                         b.data(), type, n, &zero, c.data(), CUDA_R_32F, n, compute,
                         CUBLAS_GEMM_DEFAULT));
  });
  return 2.0 * n * n * n / t;
}

}  // namespace

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

double device_copy(const Stream& stream) {
  const std::size_t floats = std::size_t{1} << 28;
  DeviceArray<float> from(floats, "a copy");
  DeviceArray<float> to(floats, "a copy");
  const double t = device_seconds(stream, 20, [&] {
    copy_async(to.data(), from.data(), floats, cudaMemcpyDeviceToDevice, stream);
  });
  return 2 * static_cast<double>(floats) * sizeof(float) / t;
}

double bus_speed(cudaMemcpyKind way, std::size_t floats, const Stream& stream) {
  PinnedArray<float> there(floats, "a copy");
  DeviceArray<float> here(floats, "a copy");
  const double t = device_seconds(stream, 20, [&] {
    way == cudaMemcpyHostToDevice ? copy_async(here.data(), there.data(), floats, way, stream)
                                  : copy_async(there.data(), here.data(), floats, way, stream);
  });
  return static_cast<double>(floats) * sizeof(float) / t;
}

Limits measure_limits() {
  const Stream stream;
  Limits limits{.copy = device_copy(stream), .matrix = {}};
  for (std::size_t k = 0; k < precisions.size(); ++k) limits.matrix[k] = matrix_rate(precisions[k]);
  return limits;
}

Share pictures() {
  auto data = std::make_shared<Dataset>();
  data->rows = 4096;
  data->features = 3 * 32 * 32;
  data->classes = 10;
  data->image = {3, 32, 32};
  Rng rng(1);
  for (std::size_t k = 0; k < std::size_t{data->rows} * data->features; ++k)
    data->bytes.own().push_back(static_cast<std::uint8_t>(rng.below(256)));
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

}  // namespace gv::gpu
