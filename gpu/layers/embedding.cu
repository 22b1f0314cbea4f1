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
  const std::size_t n = k / channels;
  const std::size_t c = k % channels;
  y[k] = token[tokens[n] * std::size_t{channels} + c] + position[n % positions * channels + c];
}

/// A block to a token: its threads go through the text together and each adds up its channels
/// where the token stands, in the order of the text.
__global__ void token_gradient_kernel(const std::uint8_t* tokens,
                                      const float* dy,
                                      float* d_token,
                                      std::uint32_t channels,
                                      std::size_t length) {
  for (std::uint32_t c = threadIdx.x; c < channels; c += blockDim.x) {
    float sum = 0;
    for (std::size_t n = 0; n < length; ++n)
      if (tokens[n] == blockIdx.x) sum += dy[n * channels + c];
    d_token[std::size_t{blockIdx.x} * channels + c] = sum;
  }
}

/// row: positions x channels.
__global__ void position_gradient_kernel(const float* dy,
                                         float* d_position,
                                         std::size_t row,
                                         std::uint32_t rows) {
  const std::size_t k = thread_index();
  if (k >= row) return;
  float sum = 0;
  for (std::uint32_t r = 0; r < rows; ++r) sum += dy[r * row + k];
  d_position[k] = sum;
}

class Embedding : public Layer {
 public:
  explicit Embedding(const LayerPlan& plan)
      : vocabulary_(plan.network.vocabulary),
        positions_(plan.node.out.positions),
        channels_(plan.node.out.channels),
        token_(plan.offset(0)),
        position_(plan.offset(1)) {}

  void forward(const Pass& pass) override {
    const std::size_t count = std::size_t{pass.rows} * positions_ * channels_;
    launch(embed_kernel,
           count,
           pass.context.stream,
           pass.tokens,
           pass.parameters + token_,
           pass.parameters + position_,
           pass.out,
           positions_,
           channels_,
           count);
  }

  void backward(const Pass& pass) override {
    launch_blocks(token_gradient_kernel,
                  vocabulary_,
                  pass.context.stream,
                  pass.tokens,
                  pass.d_out,
                  pass.gradient + token_,
                  channels_,
                  std::size_t{pass.rows} * positions_);
    const std::size_t row = std::size_t{positions_} * channels_;
    launch(position_gradient_kernel,
           row,
           pass.context.stream,
           pass.d_out,
           pass.gradient + position_,
           row,
           pass.rows);
  }

 private:
  std::uint32_t vocabulary_, positions_, channels_;
  std::size_t token_, position_;
};

}  // namespace

std::unique_ptr<Layer> make_embedding(const LayerPlan& plan) {
  return std::make_unique<Embedding>(plan);
}

}  // namespace gv::gpu
