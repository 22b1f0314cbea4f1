#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "gpu/device/device_context.h"
#include "optim/models/network_builder.h"

namespace gv::gpu {

/// The moments that a batch norm takes: those of the batch (training); those of the batch, which it
/// also remembers (`count`: how many batches it remembers already); or the means of what it
/// remembers (`count`: of how many batches). Wu & Johnson 2021, arXiv:2105.07576, equation 2.
struct Moments {
  enum class Use : std::uint8_t { of_the_batch, remembered, given };
  Use use = Use::of_the_batch;
  std::uint32_t count = 0;
};

/// The data that one layer works on in one pass, for the nodes of its unit (network_plan.h). All
/// pointers are the device's; values lie row after row, a row in the order of its Shape.
struct Pass {
  DeviceContext& context;
  std::uint32_t rows = 0;
  Moments moments{};
  bool kept = true;                      ///< what is computed, for the way back
  const float* parameters = nullptr;     ///< the flat vector x
  float* gradient = nullptr;             ///< the flat vector g; backward only
  const std::uint8_t* tokens = nullptr;  ///< rows x positions, of a text
  const float* in = nullptr;             ///< value of the first input
  const float* in2 = nullptr;            ///< of the second
  float* out = nullptr;                  ///< value of the last node
  float* before = nullptr;               ///< what a gelu is taken of; null: nobody asks
  float* d_out = nullptr;                ///< gradient by the last node, which may be written over
  float* d_in = nullptr;                 ///< gradient by the first input; null: nobody asks
  float* d_in2 = nullptr;                ///< by the second; an addend's may be d_out itself
  bool add = false;                      ///< d_in holds another consumer's share already: add to it
  bool add2 = false;
};

/// One unit of a network. Everything it needs is allocated when it is made; a pass only puts work
/// into the context's stream.
class Layer {
 public:
  virtual ~Layer() = default;
  virtual void forward(const Pass& pass) = 0;
  /// Writes its tensors' pieces of pass.gradient and, where asked, d_in.
  virtual void backward(const Pass& pass) = 0;
};

/// The things that a layer is made of.
struct LayerPlan {
  const NeuralNetwork& network;
  const Node& node;
  Shape in;                               ///< of the first input
  std::vector<std::uint32_t> row_counts;  ///< of every pass that will be asked for
  std::uint32_t most_rows = 0;            ///< the largest
  std::uint32_t kept_rows = 0;            ///< the largest of a pass that is gone back from
  Op then = Op::input;                    ///< relu or gelu, which it does as well; input: nothing
  bool residual = false;                  ///< it adds its second input
  DeviceContext& context;

  std::size_t offset(std::size_t parameter) const {
    return network.tensors[node.parameters[parameter]].offset;
  }
  bool has(std::size_t parameter) const { return node.parameters.size() > parameter; }
};

// One file each. Throw CudaError when the device has no room.
std::unique_ptr<Layer> make_linear(const LayerPlan& plan);
std::unique_ptr<Layer> make_convolution(const LayerPlan& plan);  ///< or throws: built without cuDNN
std::unique_ptr<Layer> make_elementwise(const LayerPlan& plan);  ///< relu, gelu, add
std::unique_ptr<Layer> make_pool(const LayerPlan& plan);         ///< max, average, shortcut
std::unique_ptr<Layer> make_norm(const LayerPlan& plan);         ///< batch, group, layer
std::unique_ptr<Layer> make_embedding(const LayerPlan& plan);
std::unique_ptr<Layer> make_attention(const LayerPlan& plan);

/// Makes the layer by the node's op; null for the input.
std::unique_ptr<Layer> make_layer(const LayerPlan& plan);

}  // namespace gv::gpu
