#include "gpu/layers/norm_kernels.h"

namespace gv::gpu {
namespace {

/// What is summed over a channel: (x, x^2).
struct Powers {
  const float* x;
  __device__ SumPair operator()(std::size_t k, std::size_t) const {
    const auto v = static_cast<double>(x[k]);
    return {v, v * v};
  }
};

/// total: sums over `count` of the values and of their squares. Returns the variance.
__device__ float put_statistics(
    SumPair total, double count, float epsilon, std::size_t set, float* mean, float* inverse) {
  const double m = total.a / count;
  const double variance = fmax(0.0, total.b / count - m * m);
  mean[set] = static_cast<float>(m);
  inverse[set] = static_cast<float>(1 / sqrt(variance + static_cast<double>(epsilon)));
  return static_cast<float>(variance);
}

__global__ void batch_statistics_kernel(const SumPair* partial,
                                        Layout layout,
                                        float epsilon,
                                        float* mean,
                                        float* inverse,
                                        Moments moments,
                                        SumPair* memory) {
  const std::size_t c = thread_index();
  if (c >= layout.channels) return;
  const double count = static_cast<double>(layout.rows) * layout.pixels;
  const SumPair total = channel_total(partial, static_cast<std::uint32_t>(c), layout.slices);
  const float variance = put_statistics(total, count, epsilon, c, mean, inverse);
  if (moments.use != Moments::Use::remembered) return;
  if (moments.count == 0) memory[c] = SumPair{};
  const auto m = static_cast<double>(mean[c]);
  memory[c].a += m;
  memory[c].b += m * m + static_cast<double>(variance);
}

__global__ void given_statistics_kernel(const SumPair* memory,
                                        std::uint32_t channels,
                                        double batches,
                                        float epsilon,
                                        float* mean,
                                        float* inverse) {
  const std::size_t c = thread_index();
  if (c < channels) put_statistics(memory[c], batches, epsilon, c, mean, inverse);
}

/// A block to a group: `length` adjacent values.
__global__ void group_statistics_kernel(
    const float* x, std::uint32_t length, float epsilon, float* mean, float* inverse) {
  const float* own = x + std::size_t{blockIdx.x} * length;
  SumPair sum;
  for (std::uint32_t i = threadIdx.x; i < length; i += blockDim.x) {
    const auto v = static_cast<double>(own[i]);
    sum.a += v;
    sum.b += v * v;
  }
  const SumPair total = block_sum(sum);
  if (threadIdx.x == 0) put_statistics(total, length, epsilon, blockIdx.x, mean, inverse);
}

}  // namespace

void find_batch_statistics(const Pass& pass,
                           const Layout& layout,
                           float epsilon,
                           float* mean,
                           float* inverse,
                           SumPair* partial,
                           SumPair* memory) {
  const cudaStream_t stream = pass.context.stream;
  const std::uint32_t channels = layout.channels;
  if (pass.moments.use == Moments::Use::given) {
    const double batches = pass.moments.count;
    launch(given_statistics_kernel,
           channels,
           stream,
           memory,
           channels,
           batches,
           epsilon,
           mean,
           inverse);
    return;
  }
  launch_blocks(channel_slice_kernel<Powers>,
                std::size_t{channels} * layout.slices,
                stream,
                Powers{pass.in},
                layout,
                partial);
  launch(batch_statistics_kernel,
         channels,
         stream,
         partial,
         layout,
         epsilon,
         mean,
         inverse,
         pass.moments,
         memory);
}

void find_group_statistics(
    const Pass& pass, const Layout& layout, float epsilon, float* mean, float* inverse) {
  launch_blocks(group_statistics_kernel,
                layout.rows * layout.groups,
                pass.context.stream,
                pass.in,
                layout.channels / layout.groups * layout.pixels,
                epsilon,
                mean,
                inverse);
}

}  // namespace gv::gpu
