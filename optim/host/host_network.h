#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "optim/host/host_layer.h"

namespace gv {

/// The ends of a network that is a part of another: what lies beyond them.
struct NetworkEnds {
  bool gradient_in = false;   ///< something before it learns: it gives the gradient by its input
  bool gradient_out = false;  ///< what it computes goes on elsewhere, and its gradient comes back
};

/// A network made ready for batches of `rows` rows on the CPU: layouts chosen, primitives made,
/// memory lent once. One thread at a time; which one does not matter.
class HostNetwork {
 public:
  /// Takes `training` where backward() is to come: then every value stays until it is used.
  HostNetwork(const NeuralNetwork& network,
              std::uint32_t rows,
              bool training,
              NetworkEnds ends = {});

  /// Returns what is to be filled before forward(): floats [rows][elements of the input], or tokens
  /// [rows][positions].
  std::span<float> inputs();
  std::span<std::uint8_t> tokens() { return tokens_; }

  void forward(std::span<const float> x, Moments moments);
  /// [rows][positions][classes]; before backward() they are replaced by the gradient by them.
  std::span<float> logits();
  /// g <- the gradient by x; forward() of the same x was the pass before.
  void backward(std::span<const float> x, std::span<float> g);

  // What crosses the ends, [rows][elements of one] in the order of Shape. The value behind it, as
  // forward() left it; before backward(), to be filled with the gradient by that value; after
  // backward(), the gradient by inputs().
  std::span<const float> outputs() const;
  std::span<float> output_gradients();
  std::span<const float> input_gradients() const;

  /// One of each batch norm: what the last forward of_the_batch measured, and what one with given
  /// moments takes.
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
  std::vector<LayerPointer> layers_;  ///< of each node; none for the input and for a ReLU that the
                                      ///< layer before it does too
  std::vector<Lease> values_;         ///< of each node, as long as others need it
  std::vector<std::vector<std::uint32_t>> users_;  ///< of each node, ascending
  dnnl::memory input_, logits_;
  Conversion output_;                ///< plain, where it goes on
  Lease output_gradient_;            ///< plain, from outside
  Conversion outer_;                 ///< it, as the output lies
  IncomingGradient input_gradient_;  ///< plain, as the input
};

}  // namespace gv
