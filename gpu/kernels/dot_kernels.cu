#include <algorithm>

#include "gpu/device/launch.h"
#include "gpu/kernels/dot_kernels.h"
#include "optim/check.h"
#include "optim/host/dot.h"

// The products are exact in float64, so that a fused multiply-add changes no bit.

namespace gv::gpu {
namespace {

static_assert(dot_lanes == block_threads, "a lane is a thread");

__global__ void dot_kernel(const float* a, const float* b, std::size_t count, double* sums) {
  const std::size_t from = std::size_t{blockIdx.x} * dot_segment;
  const std::size_t end = from + dot_segment < count ? from + dot_segment : count;
  double mine = 0;
  for (std::size_t k = from + threadIdx.x; k < end; k += dot_lanes)
    mine += static_cast<double>(a[k]) * static_cast<double>(b[k]);
  const SumPair sum = block_sum({mine, 0});
  if (threadIdx.x == 0) sums[blockIdx.x] = sum.a;
}

__global__ void sum_kernel(const double* sums, std::size_t count, double* whole) {
  double mine = 0;
  for (std::size_t k = threadIdx.x; k < count; k += dot_lanes) mine += sums[k];
  const SumPair sum = block_sum({mine, 0});
  if (threadIdx.x == 0) *whole = sum.a;
}

std::size_t segments_of(std::size_t count) {
  return (count + dot_segment - 1) / dot_segment;
}

}  // namespace

Dot::Dot(std::size_t most, const Stream& compute)
    : compute_(compute),
      sums_(segments_of(most) + 1, "a dot product"),
      whole_(1, "a dot product") {}

double Dot::of(const float* a, const float* b, std::size_t count) {
  const std::size_t segments = segments_of(count);
  GV_CHECK(segments < sums_.size(), "room for the sums of the segments");
  double* whole = sums_.data() + segments;
  launch_blocks(dot_kernel, segments, compute_, a, b, count, sums_.data());
  launch_blocks(sum_kernel, 1, compute_, sums_.data(), segments, whole);
  copy_async(whole_.data(), whole, 1, cudaMemcpyDeviceToHost, compute_);
  compute_.wait();
  return whole_[0];
}

}  // namespace gv::gpu
