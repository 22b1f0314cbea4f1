#include "gpu/device/launch.h"
#include "gpu/layers/layer.h"

namespace gv::gpu {
namespace {

/// y[n][c] = token[tokens[n]][c] + position[n % positions][c].
__global__ void embed_kernel(const std::uint8_t* tokens,
                             const float* token,
                             const float* position,
                             float* y,
                             std::uint32_t positions,
                             std::uint32_t channels,
                             std::size_t count) {
  const std::size_t k = thread_index();
  if (k >= count) return;
  const auto [n, c] = divide(k, channels);
  y[k] = token[tokens[n] * std::size_t{channels} + c] +
         position[divide(n, positions).rest * channels + c];
}

/// A text and the gradient by its embedding, [position of all rows][channel].
struct Text {
  const std::uint8_t* tokens;
  const float* dy;
  std::uint32_t vocabulary, channels;
  std::size_t length;       ///< positions of all rows
  std::uint32_t stretches;  ///< number of stretches that the text is divided into
};

/// Block (token, stretch): its threads go through the stretch together. Each sums its channels over
/// the token's occurrences, in the order of the text. The last block of a token sums the stretches,
/// in their order. partial: [token][stretch][channel].
__device__ void add_up_token(
    const Text& text, std::uint32_t block, float* partial, std::uint32_t* came, float* d_token) {
  const std::uint32_t token = block / text.stretches;
  const std::size_t each = (text.length + text.stretches - 1) / text.stretches;
  const std::size_t begin = block % text.stretches * each;
  const std::size_t end = begin + each < text.length ? begin + each : text.length;
  float* own = partial + std::size_t{block} * text.channels;
  for (std::uint32_t c = threadIdx.x; c < text.channels; c += block_threads) {
    float sum = 0;
    for (std::size_t n = begin; n < end; ++n)
      if (text.tokens[n] == token) sum += text.dy[n * text.channels + c];
    own[c] = sum;
  }
  if (!last_to_come(came + token, text.stretches)) return;
  const float* first = partial + std::size_t{token} * text.stretches * text.channels;
  for (std::uint32_t c = threadIdx.x; c < text.channels; c += block_threads) {
    float sum = 0;
    for (std::uint32_t s = 0; s < text.stretches; ++s) sum += first[s * text.channels + c];
    d_token[std::size_t{token} * text.channels + c] = sum;
  }
}

/// Blocks of tokens first, then those of positions: `row` elements are positions x channels.
__global__ void gradient_kernel(Text text,
                                float* partial,
                                std::uint32_t* came,
                                float* d_token,
                                float* d_position,
                                std::size_t row) {
  const std::uint32_t of_tokens = text.vocabulary * text.stretches;
  if (blockIdx.x < of_tokens) {
    add_up_token(text, blockIdx.x, partial, came, d_token);
    return;
  }
  const std::size_t k = std::size_t{blockIdx.x - of_tokens} * block_threads + threadIdx.x;
  if (k >= row) return;
  float sum = 0;
  for (std::size_t at = k; at < text.length * text.channels; at += row) sum += text.dy[at];
  d_position[k] = sum;
}

constexpr std::uint32_t stretches = 16;

class Embedding : public Layer {
 public:
  explicit Embedding(const LayerPlan& plan)
      : vocabulary_(plan.network.vocabulary),
        positions_(plan.node.out.positions),
        channels_(plan.node.out.channels),
        token_(plan.offset(0)),
        position_(plan.offset(1)),
        came_(vocabulary_, "sums of tokens") {
    plan.context.reserve_scratch(std::size_t{vocabulary_} * stretches * channels_);
  }

  void forward(const Pass& pass) override {
    const std::size_t count = std::size_t{pass.rows} * positions_ * channels_;
    launch(embed_kernel, count, pass.context.stream, pass.tokens, pass.parameters + token_,
           pass.parameters + position_, pass.out, positions_, channels_, count);
  }

  void backward(const Pass& pass) override {
    const std::size_t row = std::size_t{positions_} * channels_;
    launch_blocks(gradient_kernel, std::size_t{vocabulary_} * stretches + blocks_for(row),
                  pass.context.stream,
                  Text{.tokens = pass.tokens,
                       .dy = pass.d_out,
                       .vocabulary = vocabulary_,
                       .channels = channels_,
                       .length = std::size_t{pass.rows} * positions_,
                       .stretches = stretches},
                  pass.context.scratch(), came_.data(), pass.gradient + token_,
                  pass.gradient + position_, row);
  }

 private:
  std::uint32_t vocabulary_, positions_, channels_;
  std::size_t token_, position_;
  DeviceArray<std::uint32_t> came_;
};

}  // namespace

std::unique_ptr<Layer> make_embedding(const LayerPlan& plan) {
  return std::make_unique<Embedding>(plan);
}

}  // namespace gv::gpu
