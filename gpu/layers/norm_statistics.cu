#include "gpu/layers/norm_kernels.h"

namespace gv::gpu {
namespace {

/// The pair that is summed over a channel: (x, x^2).
struct Powers {
  const float* x;
  __device__ SumPair operator()(std::size_t k, std::size_t) const {
    const auto v = static_cast<double>(x[k]);
    return {v, v * v};
  }
};

/// Stores a set's statistics. total: sums of values and of squares. Returns the variance.
__device__ float put_statistics(SumPair total, double count, const Forth& forth, std::size_t set) {
  const double m = total.a / count;
  const double variance = fmax(0.0, total.b / count - m * m);
  forth.mean[set] = static_cast<float>(m);
  forth.inverse[set] = static_cast<float>(1 / sqrt(variance + static_cast<double>(forth.epsilon)));
  return static_cast<float>(variance);
}

/// Statistics of a channel of the batch, which are remembered if the moments demand it.
struct BatchStatistics {
  Forth forth;
  Moments moments;
  SumPair* memory;

  __device__ void operator()(std::size_t c, SumPair total) const {
    const double count = static_cast<double>(forth.layout.rows) * forth.layout.pixels;
    const float variance = put_statistics(total, count, forth, c);
    if (moments.use != Moments::Use::remembered) return;
    if (moments.count == 0) memory[c] = SumPair{};
    const auto m = static_cast<double>(forth.mean[c]);
    memory[c].a += m;
    memory[c].b += m * m + static_cast<double>(variance);
  }
};

__global__ void given_statistics_kernel(const SumPair* memory, double batches, Forth forth) {
  const std::size_t c = thread_index();
  if (c < forth.layout.channels) put_statistics(memory[c], batches, forth, c);
}

__global__ void apply_kernel(Forth forth, std::size_t count) {
  const std::size_t k = thread_index();
  if (k >= count) return;
  const std::size_t c = divide(divide(k, forth.layout.pixels).by, forth.layout.channels).rest;
  forth.put(k, forth.mean[c], forth.inverse[c], c);
}

/// One block per channel of a batch norm, from the sums to the values.
__global__ void __launch_bounds__(wide_threads) batch_kernel(BatchStatistics statistics) {
  const Forth& forth = statistics.forth;
  const std::uint32_t channel = blockIdx.x;
  const std::size_t count = forth.layout.rows * forth.layout.pixels;
  const SumPair total = sum_of_channel(forth.layout, channel, Powers{forth.x});
  if (threadIdx.x == 0) statistics(channel, total);
  __syncthreads();
  const float mean = forth.mean[channel];
  const float inverse = forth.inverse[channel];
  for (std::size_t i = threadIdx.x; i < count; i += wide_threads)
    forth.put(forth.layout.of_channel(channel, i), mean, inverse, channel);
}

/// One block per group of `length` adjacent values.
__global__ void group_kernel(Forth forth, std::uint32_t length) {
  const std::size_t begin = std::size_t{blockIdx.x} * length;
  const Powers powers{forth.x};
  SumPair sum;
  for (std::uint32_t i = threadIdx.x; i < length; i += block_threads) {
    const SumPair t = powers(begin + i, 0);
    sum.a += t.a;
    sum.b += t.b;
  }
  const SumPair total = block_sum(sum);
  if (threadIdx.x == 0) put_statistics(total, length, forth, blockIdx.x);
  __syncthreads();
  const float mean = forth.mean[blockIdx.x];
  const float inverse = forth.inverse[blockIdx.x];
  const std::uint32_t width = forth.layout.channels / forth.layout.groups;
  const std::uint32_t first = blockIdx.x % forth.layout.groups * width;
  for (std::uint32_t i = threadIdx.x; i < length; i += block_threads)
    forth.put(begin + i, mean, inverse, first + i / forth.layout.pixels);
}

}  // namespace

void batch_norm(const Forth& forth,
                const Moments& moments,
                const Slices& slices,
                SumPair* memory,
                cudaStream_t stream) {
  const Layout& layout = forth.layout;
  const BatchStatistics statistics{forth, moments, memory};
  const bool given = moments.use == Moments::Use::given;
  if (!given && layout.alone())
    return launch_wide_blocks(batch_kernel, layout.channels, stream, statistics);
  if (given) {
    const double batches = moments.count;
    launch(given_statistics_kernel, layout.channels, stream, memory, batches, forth);
  } else {
    launch_blocks(channel_slice_kernel<Powers, BatchStatistics>,
                  std::size_t{layout.channels} * layout.slices, stream, Powers{forth.x}, statistics,
                  layout, slices);
  }
  launch(apply_kernel, layout.count(), stream, forth, layout.count());
}

void group_norm(const Forth& forth, cudaStream_t stream) {
  const Layout& layout = forth.layout;
  const std::uint32_t length = layout.channels / layout.groups * layout.pixels;
  launch_blocks(group_kernel, layout.rows * layout.groups, stream, forth, length);
}

}  // namespace gv::gpu
