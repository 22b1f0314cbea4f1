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
  /// batch: the rows of a pass that is gone back from; seen: those of each other one that will be
  /// asked for. Throws CudaError when the device has no room, or for a convolution when this was
  /// built without cuDNN.
  DeviceNetwork(const NeuralNetwork& network,
                std::uint32_t batch,
                std::vector<std::uint32_t> seen,
                DeviceContext& context);

  const NeuralNetwork& network() const { return network_; }
  std::uint32_t most_rows() const { return most_rows_; }
  bool has_batch_norm() const;
  float* input() { return values_[0].data(); }       ///< rows x features; not of a text
  std::uint8_t* tokens() { return tokens_.data(); }  ///< rows x positions, of a text

  /// The network at the parameters x on a minibatch in input() or tokens(). Returns the logits,
  /// which backward() takes for the gradient by them.
  float* forward(const float* x);
  /// g <- gradient, after forward.
  void backward(const float* x, float* g);
  /// Does as forward, on any of the row counts; nothing is kept for a way back.
  const float* see(const float* x, std::uint32_t rows, Moments moments);

 private:
  float* put(Pass all);
  /// `all` of the unit.
  Pass pass(const Unit& unit, Pass all);
  float* value(std::size_t node, bool kept) {
    return values_[kept ? plan_.value_of[node] : plan_.passing_of[node]].data();
  }
  float* gradient(std::size_t node);  ///< null: nobody asks

  NeuralNetwork network_;
  NetworkPlan plan_;
  std::uint32_t batch_, most_rows_;
  DeviceContext& context_;
  DeviceArray<std::uint8_t> tokens_;
  std::vector<DeviceArray<float>> values_, gradients_;
  std::vector<std::unique_ptr<Layer>> layers_;  ///< by unit
};

}  // namespace gv::gpu
