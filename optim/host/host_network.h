#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "optim/host/host_layer.h"

namespace gv {

/// The ends of a network that is a part of another.
struct NetworkEnds {
  bool gradient_in = false;   ///< an earlier part learns: compute the gradient by the input
  bool gradient_out = false;  ///< a later part uses the output and returns its gradient
};

/// A network prepared for batches of `rows` rows on the CPU: layouts chosen, primitives made,
/// memory lent once. For one thread at a time, any thread.
class HostNetwork {
 public:
  /// `training` is true if backward() will be called: every value then stays until it is used.
  HostNetwork(const NeuralNetwork& network,
              std::uint32_t rows,
              bool training,
              NetworkEnds ends = {});

  /// Returns the inputs, to fill before forward(): floats [rows][elements of the input], or tokens
  /// [rows][positions].
  std::span<float> inputs();
  std::span<std::uint8_t> tokens() { return tokens_; }

  void forward(std::span<const float> x, Moments moments);
  /// [rows][positions][classes]; before backward(), replace the logits by the gradient by them.
  std::span<float> logits();
  /// g <- gradient by x; the pass before must be forward() with the same x.
  void backward(std::span<const float> x, std::span<float> g);

  // The values at the ends, [rows][elements per row] in the order of Shape: the output of
  // forward(); the gradient by the output, to fill before backward(); the gradient by inputs(),
  // after backward().
  std::span<const float> outputs() const;
  std::span<float> output_gradients();
  std::span<const float> input_gradients() const;

  /// By batch norm: the moments measured by the last forward of_the_batch, or used by one with
  /// given moments.
  std::vector<ChannelMoments>& moments() { return moments_; }

 private:
  void make_layers();
  void make_layer(std::uint32_t node);
  LayerPointer layer_of(const LayerPlace& place);
  void prepare_backward();
  void prepare_outer_end();
  bool takes_relu(std::uint32_t node) const;

  NeuralNetwork network_;
  std::uint32_t rows_;
  bool training_;
  NetworkEnds ends_;
  HostMemory memory_;
  std::vector<std::uint8_t> tokens_;
  std::vector<ChannelMoments> moments_;
  std::vector<LayerPointer> layers_;  ///< by node; none for the input and for a ReLU that the
                                      ///< preceding layer computes
  std::vector<Lease> values_;         ///< by node, as long as others need it
  std::vector<std::vector<std::uint32_t>> users_;  ///< users of each node, ascending
  dnnl::memory input_, logits_;
  Conversion output_;                ///< plain, for a later part
  Lease output_gradient_;            ///< plain, from outside
  Conversion outer_;                 ///< it, in the output's layout
  IncomingGradient input_gradient_;  ///< plain, like the input
};

}  // namespace gv
