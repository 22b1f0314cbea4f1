#pragma once

#include <memory>
#include <vector>

#include "gpu/layers/layer.h"
#include "gpu/layers/network_plan.h"

namespace gv::gpu {

/// A network's forward and backward pass on the device. The constructor allocates all memory; a
/// pass only puts work into the context's stream and can be captured.
class DeviceNetwork {
 public:
  /// batch: rows of a pass that has a backward pass; seen: row counts of all other passes. Throws
  /// CudaError if the device has no room, or if there is a convolution and this was built without
  /// cuDNN.
  DeviceNetwork(const NeuralNetwork& network,
                std::uint32_t batch,
                std::vector<std::uint32_t> seen,
                DeviceContext& context);

  const NeuralNetwork& network() const { return network_; }
  std::uint32_t most_rows() const { return most_rows_; }
  bool has_batch_norm() const;
  float* input() { return values_[0].data(); }       ///< rows x features; unused for a text
  std::uint8_t* tokens() { return tokens_.data(); }  ///< rows x positions, for a text

  /// Runs the network with parameters x on the minibatch in input() or tokens(). Returns the
  /// logits; the caller overwrites them with the gradient by them before backward().
  float* forward(const float* x);
  /// g <- gradient, after forward.
  void backward(const float* x, float* g);
  /// Does as forward, with any of the row counts; keeps nothing for a backward pass.
  const float* see(const float* x, std::uint32_t rows, Moments moments);

 private:
  float* put(Pass all);
  /// Returns `all` with the pointers of the unit.
  Pass pass(const Unit& unit, Pass all);
  float* value(std::size_t node, bool kept) {
    return values_[kept ? plan_.value_of[node] : plan_.passing_of[node]].data();
  }
  float* gradient(std::size_t node);  ///< null for the input

  NeuralNetwork network_;
  NetworkPlan plan_;
  std::uint32_t batch_, most_rows_;
  DeviceContext& context_;
  DeviceArray<std::uint8_t> tokens_;
  std::vector<DeviceArray<float>> values_, gradients_;
  std::vector<std::unique_ptr<Layer>> layers_;  ///< by unit
};

}  // namespace gv::gpu
