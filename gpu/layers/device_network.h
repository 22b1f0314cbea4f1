#pragma once

#include <memory>
#include <vector>

#include "gpu/layers/layer.h"
#include "gpu/layers/network_plan.h"

namespace gv::gpu {

/// A network's forward and backward pass on the device. All memory is allocated when it is made;
/// a pass only puts work into the context's stream and can be captured.
class DeviceNetwork {
 public:
  /// row_counts: the rows of every pass that will be asked for. Throws CudaError when the device
  /// has no room, or for a convolution when this was built without cuDNN.
  DeviceNetwork(const NeuralNetwork& network,
                std::vector<std::uint32_t> row_counts,
                DeviceContext& context);

  const NeuralNetwork& network() const { return network_; }
  std::uint32_t most_rows() const { return most_rows_; }
  bool has_batch_norm() const;
  float* input() { return value(0); }                ///< rows x features; not of a text
  std::uint8_t* tokens() { return tokens_.data(); }  ///< rows x positions, of a text
  float* logits() { return value(network_.nodes.size() - 1); }

  /// logits() <- the network at the parameters x on input() or tokens().
  void forward(const float* x, std::uint32_t rows, Moments moments = {});
  /// g <- gradient, from the gradient by the logits that stands in logits(), after forward.
  void backward(const float* x, float* g, std::uint32_t rows);

 private:
  Pass pass(std::size_t node, const float* x, float* g, std::uint32_t rows);
  float* value(std::size_t node) { return values_[plan_.value_of[node]].data(); }
  float* gradient(std::size_t node);

  NeuralNetwork network_;
  NetworkPlan plan_;
  std::uint32_t most_rows_;
  DeviceContext& context_;
  DeviceArray<std::uint8_t> tokens_;
  std::vector<DeviceArray<float>> values_, gradients_;
  std::vector<std::unique_ptr<Layer>> layers_;
};

}  // namespace gv::gpu
