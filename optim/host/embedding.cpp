#include <algorithm>

#include "optim/host/host_layer.h"

namespace gv {
namespace {

/// The token's row plus the position's row.
class Embedding : public HostLayer {
 public:
  Embedding(const LayerPlace& place, std::span<const std::uint8_t> tokens)
      : memory_(place.memory),
        token_(place.tensor(0)),
        position_(place.tensor(1)),
        width_(place.node.out.channels),
        positions_(place.node.out.positions),
        tokens_(tokens) {
    set_output(memory_.lend(matrix_of(place.rows, place.node.out)));
  }

  void forward(std::span<const float> x, Moments) override {
    for (std::size_t k = 0; k < tokens_.size(); ++k) {
      const float* token = x.data() + token_.offset + tokens_[k] * width_;
      const float* position = x.data() + position_.offset + k % positions_ * width_;
      float* y = floats(y_) + k * width_;
      for (std::size_t c = 0; c < width_; ++c) y[c] = token[c] + position[c];
    }
  }

  std::vector<Lease> prepare_backward(const std::vector<Lease>& parts, bool) override {
    incoming_ = IncomingGradient(memory_, parts, y_, false);
    incoming_.drop();
    return {};
  }

  void backward(std::span<const float>, std::span<float> g) override {
    incoming_.gather();
    std::fill_n(g.data() + token_.offset, token_.count, 0.0F);
    std::fill_n(g.data() + position_.offset, position_.count, 0.0F);
    for (std::size_t k = 0; k < tokens_.size(); ++k) {
      float* token = g.data() + token_.offset + tokens_[k] * width_;
      float* position = g.data() + position_.offset + k % positions_ * width_;
      const float* dy = floats(incoming_.tensor()) + k * width_;
      for (std::size_t c = 0; c < width_; ++c) token[c] += dy[c];
      for (std::size_t c = 0; c < width_; ++c) position[c] += dy[c];
    }
  }

 private:
  HostMemory& memory_;
  Tensor token_, position_;
  std::size_t width_, positions_;
  std::span<const std::uint8_t> tokens_;
  IncomingGradient incoming_;
};

}  // namespace

LayerPointer make_host_embedding(const LayerPlace& place, std::span<const std::uint8_t> tokens) {
  return std::make_unique<Embedding>(place, tokens);
}

}  // namespace gv
