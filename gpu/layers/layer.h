#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "gpu/device/device_context.h"
#include "optim/models/network.h"

namespace gv::gpu {

/// Which moments a batch norm takes: those of the batch (training); those of the batch, which it
/// also remembers (`count`: how many batches it remembers already); or the means of what it
/// remembers (`count`: of how many batches). Wu & Johnson 2021, arXiv:2105.07576, equation 2.
struct Moments {
  enum class Use : std::uint8_t { of_the_batch, remembered, given };
  Use use = Use::of_the_batch;
  std::uint32_t count = 0;
};

/// What one node works on in one pass. All pointers are the device's; values lie row after row, a
/// row in the order of its Shape.
struct Pass {
  DeviceContext& context;
  std::uint32_t rows = 0;
  Moments moments{};
  const float* parameters = nullptr;     ///< the flat vector x
  float* gradient = nullptr;             ///< the flat vector g; backward only
  const std::uint8_t* tokens = nullptr;  ///< rows x positions, of a text
  const float* in = nullptr;             ///< value of the first input
  const float* in2 = nullptr;            ///< of the second
  float* out = nullptr;                  ///< value of the node
  const float* d_out = nullptr;          ///< gradient by the node; backward only
  float* d_in = nullptr;                 ///< gradient by the first input; null: nobody asks
  float* d_in2 = nullptr;
  bool add = false;  ///< d_in holds another consumer's share already: add to it
  bool add2 = false;
};

/// One node of a network. Everything it needs is allocated when it is made; a pass only puts work
/// into the context's stream.
class Layer {
 public:
  virtual ~Layer() = default;
  virtual void forward(const Pass& pass) = 0;
  /// Writes its tensors' pieces of pass.gradient and, where asked, d_in.
  virtual void backward(const Pass& pass) = 0;
};

/// What a layer is made of.
struct LayerPlan {
  const NeuralNetwork& network;
  const Node& node;
  Shape in;                               ///< of the first input
  std::vector<std::uint32_t> row_counts;  ///< of every pass that will be asked for
  std::uint32_t most_rows = 0;            ///< the largest
  bool in_place = false;                  ///< relu: the value takes the place of the input's
  bool relu_follows = false;              ///< linear: does the relu after it in the same pass
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

/// By the node's op; null for the input.
std::unique_ptr<Layer> make_layer(const LayerPlan& plan);

}  // namespace gv::gpu
