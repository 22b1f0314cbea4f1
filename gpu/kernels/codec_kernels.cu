#include "gpu/device/launch.h"
#include "gpu/kernels/codec_kernels.h"
#include "optim/check.h"
#include "optim/codec/codec_arithmetic.h"

namespace gv::gpu {
namespace {

static_assert(int8_block == block_threads, "a block of the codec is a block of threads");

struct Half {
  __device__ static std::uint16_t to(float x) { return to_half(x); }
  __device__ static float from(std::uint16_t word) { return from_half(word); }
};
struct Bfloat {
  __device__ static std::uint16_t to(float x) { return to_bfloat(x); }
  __device__ static float from(std::uint16_t word) { return from_bfloat(word); }
};

template <class Word>
__global__ void encode_words_kernel(const float* v, std::size_t n, std::uint16_t* out) {
  const std::size_t k = thread_index();
  if (k < n) out[k] = Word::to(v[k]);
}

template <class Word>
__global__ void decode_words_kernel(const std::uint16_t* in, float* v, std::size_t n) {
  const std::size_t k = thread_index();
  if (k < n) v[k] = Word::from(in[k]);
}

/// The maximum of integers does not depend on the order.
__device__ std::uint32_t block_max(std::uint32_t mine) {
  __shared__ std::uint32_t most[block_threads];
  most[threadIdx.x] = mine;
  __syncthreads();
  for (unsigned half = block_threads / 2; half > 0; half /= 2) {
    if (threadIdx.x < half && most[threadIdx.x] < most[threadIdx.x + half])
      most[threadIdx.x] = most[threadIdx.x + half];
    __syncthreads();
  }
  return most[0];
}

/// Nor does a sum of integers that wraps around.
__device__ std::uint32_t block_sum(std::uint32_t mine) {
  __shared__ std::uint32_t sums[block_threads];
  sums[threadIdx.x] = mine;
  __syncthreads();
  for (unsigned half = block_threads / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
    __syncthreads();
  }
  return sums[0];
}

__global__ void encode_int8_kernel(const float* v, std::size_t n, float* scales, std::int8_t* out) {
  const std::size_t k = thread_index();
  const float x = k < n ? v[k] : 0.0F;
  const float scale = int8_scale(block_max(magnitude(x)));
  if (threadIdx.x == 0) scales[blockIdx.x] = scale;
  const std::uint32_t seed = block_sum(int8_seed_of(x, threadIdx.x));
  if (k < n) out[k] = to_int8(x, scale, int8_draw(seed, threadIdx.x));
}

__global__ void decode_int8_kernel(const float* scales,
                                   const std::int8_t* in,
                                   float* v,
                                   std::size_t n) {
  const std::size_t k = thread_index();
  if (k < n) v[k] = from_int8(in[k], scales[k / int8_block]);
}

}  // namespace

void Encoder::encode(
    const Codec& codec, const float* v, std::size_t n, std::byte* out, cudaStream_t stream) {
  auto* words = reinterpret_cast<std::uint16_t*>(out);
  const std::size_t blocks = blocks_for(n);
  switch (codec.kind) {
    case Codec::Kind::fp16:
      return launch(encode_words_kernel<Half>, n, stream, v, n, words);
    case Codec::Kind::bf16:
      return launch(encode_words_kernel<Bfloat>, n, stream, v, n, words);
    case Codec::Kind::int8:
      return launch_blocks(encode_int8_kernel, blocks, stream, v, n, reinterpret_cast<float*>(out),
                           reinterpret_cast<std::int8_t*>(out + blocks * sizeof(float)));
    case Codec::Kind::top_k:
      return top_k_.encode(v, n, codec.kept(n), reinterpret_cast<Kept*>(out), stream);
    case Codec::Kind::random_k:
    case Codec::Kind::sign:
    case Codec::Kind::two_bit:
      return;  // runs on the host, see has()
  }
}

void Encoder::decode(
    const Codec& codec, const std::byte* in, float* v, std::size_t n, cudaStream_t stream) {
  const auto* words = reinterpret_cast<const std::uint16_t*>(in);
  switch (codec.kind) {
    case Codec::Kind::fp16:
      return launch(decode_words_kernel<Half>, n, stream, words, v, n);
    case Codec::Kind::bf16:
      return launch(decode_words_kernel<Bfloat>, n, stream, words, v, n);
    case Codec::Kind::int8:
      return launch(decode_int8_kernel, n, stream, reinterpret_cast<const float*>(in),
                    reinterpret_cast<const std::int8_t*>(in + blocks_for(n) * sizeof(float)), v, n);
    case Codec::Kind::top_k:
      return TopK::decode(reinterpret_cast<const Kept*>(in), codec.kept(n), v, n, stream);
    case Codec::Kind::random_k:
    case Codec::Kind::sign:
    case Codec::Kind::two_bit:
      return;  // runs on the host, see has()
  }
}

std::byte* Transcoder::room(std::size_t bytes) {
  if (bytes_.size() < bytes) bytes_ = {bytes, "an encoded vector"};
  return bytes_.data();
}

void Transcoder::encode(const Codec& codec, const float* v, std::size_t n, std::byte* out) {
  const std::size_t bytes = codec.bytes(n);
  std::byte* encoded = room(bytes);
  encoder_.encode(codec, v, n, encoded, compute_);
  copy_async(out, encoded, bytes, cudaMemcpyDeviceToHost, compute_);
  compute_.wait();
}

void Transcoder::decode(const Codec& codec, const std::byte* in, float* v, std::size_t n) {
  const std::size_t bytes = codec.bytes(n);
  std::byte* encoded = room(bytes);
  copy_async(encoded, in, bytes, cudaMemcpyHostToDevice, compute_);
  encoder_.decode(codec, encoded, v, n, compute_);
  compute_.wait();
}

namespace {

constexpr std::size_t segment = 4096;
constexpr std::size_t run = segment / block_threads;  ///< number of adjacent elements per thread
constexpr unsigned most_bins = 2048;

/// A digit of a magnitude: `bits` bits from `shift` on. The bits above are known already.
struct Digit {
  unsigned shift;
  unsigned bits;
  __device__ unsigned bins() const { return 1U << bits; }
};
constexpr Digit digits[] = {{20, 11}, {10, 10}, {0, 10}};

__device__ std::size_t end_of_segment(std::size_t from, std::size_t n) {
  return from + segment < n ? from + segment : n;
}

/// bins[d] <- bins[d] + the number of elements with digit d whose bits above it equal state[0]'s.
__global__ void count_digits_kernel(
    const float* v, std::size_t n, Digit digit, const std::uint32_t* state, std::uint32_t* bins) {
  __shared__ std::uint32_t mine[most_bins];
  for (unsigned d = threadIdx.x; d < digit.bins(); d += block_threads) mine[d] = 0;
  __syncthreads();
  const std::uint32_t known = state[0] >> digit.shift >> digit.bits;
  const std::size_t from = std::size_t{blockIdx.x} * segment;
  const std::size_t end = end_of_segment(from, n);
  for (std::size_t k = from + threadIdx.x; k < end; k += block_threads) {
    const std::uint32_t a = magnitude(v[k]) >> digit.shift;
    if (a >> digit.bits == known) atomicAdd(mine + (a & (digit.bins() - 1)), 1U);
  }
  __syncthreads();
  for (unsigned d = threadIdx.x; d < digit.bins(); d += block_threads)
    if (mine[d] > 0) atomicAdd(bins + d, mine[d]);
}

/// Finds the digit of the least magnitude kept, then clears the bins. One block.
__global__ void choose_digit_kernel(Digit digit, std::uint32_t* state, std::uint32_t* bins) {
  __shared__ std::uint32_t sums[block_threads];
  const unsigned each = digit.bins() / block_threads;
  std::uint32_t sum = 0;
  for (unsigned d = 0; d < each; ++d) sum += bins[threadIdx.x * each + d];
  sums[threadIdx.x] = sum;
  __syncthreads();
  if (threadIdx.x == 0) {
    std::uint32_t left = state[1];
    unsigned t = block_threads - 1;
    while (sums[t] < left) left -= sums[t--];
    unsigned d = t * each + each - 1;
    while (bins[d] < left) left -= bins[d--];
    state[0] |= d << digit.shift;
    state[1] = left;
  }
  __syncthreads();
  for (unsigned d = threadIdx.x; d < digit.bins(); d += block_threads) bins[d] = 0;
}

__global__ void begin_kernel(std::uint32_t k, std::uint32_t* state) {
  if (thread_index() > 0) return;
  state[0] = 0;
  state[1] = k;
}

/// Returns the split of elements [from, end) of v.
__device__ Split split_of(const float* v, std::size_t from, std::size_t end, std::uint32_t least) {
  Split split{0, 0};
  for (std::size_t k = from; k < end; ++k) {
    const std::uint32_t a = magnitude(v[k]);
    split.above += a > least ? 1U : 0U;
    split.ties += a == least ? 1U : 0U;
  }
  return split;
}

/// Returns the sums over the threads before this one; all <- the sums over the block.
__device__ Split sum_before(Split mine, Split& all) {
  __shared__ Split sums[block_threads];
  sums[threadIdx.x] = mine;
  __syncthreads();
  for (unsigned step = 1; step < block_threads; step *= 2) {
    const Split left = threadIdx.x >= step ? sums[threadIdx.x - step] : Split{0, 0};
    __syncthreads();
    sums[threadIdx.x].above += left.above;
    sums[threadIdx.x].ties += left.ties;
    __syncthreads();
  }
  all = sums[block_threads - 1];
  const Split whole = sums[threadIdx.x];
  __syncthreads();  // the memory is free for the next sum
  return {whole.above - mine.above, whole.ties - mine.ties};
}

/// Run of this thread in its segment of v.
struct Run {
  std::size_t from;
  std::size_t end;
};
__device__ Run run_of_thread(std::size_t n) {
  const std::size_t from = std::size_t{blockIdx.x} * segment + threadIdx.x * run;
  return {from < n ? from : n, from + run < n ? from + run : n};
}

__global__ void split_kernel(const float* v,
                             std::size_t n,
                             const std::uint32_t* state,
                             Split* splits) {
  const Run mine = run_of_thread(n);
  Split all;
  sum_before(split_of(v, mine.from, mine.end, state[0]), all);
  if (threadIdx.x == 0) splits[blockIdx.x] = all;
}

/// splits[s] <- the sum of the splits before s. One block.
__global__ void running_sum_kernel(Split* splits, std::size_t count) {
  Split before{0, 0};
  for (std::size_t from = 0; from < count; from += block_threads) {
    const std::size_t s = from + threadIdx.x;
    Split all;
    const Split left = sum_before(s < count ? splits[s] : Split{0, 0}, all);
    if (s < count) splits[s] = {before.above + left.above, before.ties + left.ties};
    before = {before.above + all.above, before.ties + all.ties};
  }
}

/// Writes each kept element after all earlier kept ones.
__global__ void gather_kernel(
    const float* v, std::size_t n, const std::uint32_t* state, const Split* splits, Kept* out) {
  const std::uint32_t least = state[0];
  const std::uint32_t most_ties = state[1];
  const Run mine = run_of_thread(n);
  Split all;
  Split before = sum_before(split_of(v, mine.from, mine.end, least), all);
  before.above += splits[blockIdx.x].above;
  before.ties += splits[blockIdx.x].ties;
  for (std::size_t k = mine.from; k < mine.end; ++k) {
    const std::uint32_t a = magnitude(v[k]);
    const std::uint32_t ties = before.ties < most_ties ? before.ties : most_ties;
    if (a > least || (a == least && before.ties < most_ties))
      out[before.above + ties] = {static_cast<std::uint32_t>(k), v[k]};
    before.above += a > least ? 1U : 0U;
    before.ties += a == least ? 1U : 0U;
  }
}

__global__ void scatter_kernel(const Kept* in, std::size_t k, float* v) {
  const std::size_t j = thread_index();
  if (j < k) v[in[j].index] = in[j].value;
}

}  // namespace

void TopK::encode(const float* v, std::size_t n, std::size_t k, Kept* out, cudaStream_t stream) {
  GV_CHECK(n >> 32 == 0, "indices of 32 bits");
  if (n == 0) return;
  const std::size_t segments = (n + segment - 1) / segment;
  if (splits_.size() < segments) grow(segments, stream);
  launch(begin_kernel, 1, stream, static_cast<std::uint32_t>(k), state_.data());
  for (const Digit& digit : digits) {
    launch_blocks(count_digits_kernel, segments, stream, v, n, digit, state_.data(), bins_.data());
    launch_blocks(choose_digit_kernel, 1, stream, digit, state_.data(), bins_.data());
  }
  launch_blocks(split_kernel, segments, stream, v, n, state_.data(), splits_.data());
  launch_blocks(running_sum_kernel, 1, stream, splits_.data(), segments);
  launch_blocks(gather_kernel, segments, stream, v, n, state_.data(), splits_.data(), out);
}

void TopK::grow(std::size_t segments, cudaStream_t stream) {
  GV_CUDA(cudaStreamSynchronize(stream));  // work under way still uses the old ones
  bins_ = {most_bins, "top-k"};
  state_ = {2, "top-k"};
  splits_ = {segments, "top-k"};
}

void TopK::decode(const Kept* in, std::size_t k, float* v, std::size_t n, cudaStream_t stream) {
  if (n == 0) return;
  GV_CUDA(cudaMemsetAsync(v, 0, n * sizeof(float), stream));
  launch(scatter_kernel, k, stream, in, k, v);
}

}  // namespace gv::gpu
