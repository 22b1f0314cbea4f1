#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "gpu/device/device_context.h"
#include "optim/models/network_builder.h"

namespace gv::gpu {

/// Moments that a batch norm uses: those of the batch (training); those of the batch, which it also
/// remembers (`count`: number of batches remembered before); or the means of the remembered ones
/// (`count`: number of batches). Wu & Johnson 2021, arXiv:2105.07576, equation 2.
struct Moments {
  enum class Use : std::uint8_t { of_the_batch, remembered, given };
  Use use = Use::of_the_batch;
  std::uint32_t count = 0;
};

/// Data of one layer in one pass, for the nodes of its unit (network_plan.h). All pointers are the
/// device's; values lie row after row, each row in the order of its Shape.
struct Pass {
  DeviceContext& context;
  std::uint32_t rows = 0;
  Moments moments{};
  bool kept = true;                      ///< whether values are kept for the backward pass
  const float* parameters = nullptr;     ///< the flat vector x
  float* gradient = nullptr;             ///< the flat vector g; backward only
  const std::uint8_t* tokens = nullptr;  ///< rows x positions, for a text
  const float* in = nullptr;             ///< value of the first input
  const float* in2 = nullptr;            ///< value of the second input
  float* out = nullptr;                  ///< value of the last node
  float* before = nullptr;               ///< argument of a gelu; null if not needed
  float* d_out = nullptr;                ///< gradient by the last node; may be overwritten
  float* d_in = nullptr;                 ///< gradient by the first input; null if not needed
  float* d_in2 = nullptr;                ///< as d_in, of the second; an addend's may be d_out
  bool add = false;                      ///< whether to add to d_in: a share is there
  bool add2 = false;
};

/// One unit of a network. The constructor allocates everything; a pass only puts work into the
/// context's stream.
class Layer {
 public:
  virtual ~Layer() = default;
  virtual void forward(const Pass& pass) = 0;
  /// Writes its tensors' pieces of pass.gradient and, if not null, d_in.
  virtual void backward(const Pass& pass) = 0;
};

/// Arguments of a layer's constructor.
struct LayerPlan {
  const NeuralNetwork& network;
  const Node& node;
  Shape in;                               ///< shape of the first input
  std::vector<std::uint32_t> row_counts;  ///< rows of every pass
  std::uint32_t most_rows = 0;            ///< largest of row_counts
  std::uint32_t kept_rows = 0;            ///< largest of a pass with a backward pass
  Op then = Op::input;                    ///< relu or gelu that it applies as well; input: none
  bool residual = false;                  ///< whether it adds its second input
  DeviceContext& context;

  std::size_t offset(std::size_t parameter) const {
    return network.tensors[node.parameters[parameter]].offset;
  }
  bool has(std::size_t parameter) const { return node.parameters.size() > parameter; }
};

// One file per function. All throw CudaError if the device has no room.
std::unique_ptr<Layer> make_linear(const LayerPlan& plan);
std::unique_ptr<Layer> make_convolution(const LayerPlan& plan);  ///< throws if built without cuDNN
std::unique_ptr<Layer> make_elementwise(const LayerPlan& plan);  ///< relu, gelu, add
std::unique_ptr<Layer> make_pool(const LayerPlan& plan);         ///< max, average, shortcut
std::unique_ptr<Layer> make_norm(const LayerPlan& plan);         ///< batch, group, layer
std::unique_ptr<Layer> make_embedding(const LayerPlan& plan);
std::unique_ptr<Layer> make_attention(const LayerPlan& plan);

/// Returns the layer for the node's op; null for the input.
std::unique_ptr<Layer> make_layer(const LayerPlan& plan);

}  // namespace gv::gpu
