#include <cstdint>

#include "gpu/device/launch.h"
#include "gpu/replica/codec_kernels.h"
#include "optim/codec_arithmetic.h"

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

}  // namespace gv::gpu
