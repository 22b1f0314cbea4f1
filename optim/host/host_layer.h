#pragma once

#include <memory>
#include <span>
#include <vector>

#include "optim/host/host_memory.h"
#include "optim/host/slices.h"
#include "optim/models/network_builder.h"

namespace gv {

/// The source of a batch norm's moments: its batch, or given ones.
enum class Moments : std::uint8_t { of_the_batch, given };

/// Mean and (biased) variance of each channel before a batch norm, over many batches.
struct ChannelMoments {
  std::vector<float> mean, variance;
};

/// The context of a layer: its node, and the inputs to its construction.
struct LayerPlace {
  HostMemory& memory;
  const NeuralNetwork& network;
  const Node& node;
  std::uint32_t rows = 0;           ///< rows of a batch
  std::vector<Lease> inputs{};      ///< values of its inputs
  bool relu = false;                ///< the layer also computes its only consumer, a ReLU
  bool training = false;            ///< true if there will be a backward pass
  ChannelMoments* given = nullptr;  ///< batch norm: moments that are given or measured

  const Shape& in(std::size_t k = 0) const { return network.nodes[node.inputs[k]].out; }
  const Tensor& tensor(std::size_t k) const { return network.tensors[node.parameters[k]]; }
};

/// One node on the CPU, at one size of the batch.
class HostLayer {
 public:
  virtual ~HostLayer() = default;
  /// Called once after construction: returns the place of its value in all forward passes.
  Lease hand_over() { return std::move(output_); }
  virtual void forward(std::span<const float> x, Moments moments) = 0;

  /// Called once, in the reverse order of nodes. `parts` are the places of the gradients by its
  /// output (one from each consumer, to be summed). Returns the places of the gradients by its
  /// inputs, each in the layout of that input. `wanted` is false below the first parameter; the
  /// result is then empty.
  virtual std::vector<Lease> prepare_backward(const std::vector<Lease>& parts, bool wanted) = 0;
  /// Writes the gradient by its own parameters into g; the rest of g is unchanged.
  virtual void backward(std::span<const float> x, std::span<float> g) = 0;

 protected:
  /// Sets the output, which is lent until it is handed over and dropped.
  void set_output(Lease output) {
    y_ = output.tensor;
    output_ = std::move(output);
  }
  dnnl::memory y_;

 private:
  Lease output_;
};

/// The gradient by a layer's output before its ReLU: the sum of its parts where y > 0. A single
/// part without a ReLU is used in place.
class IncomingGradient {
 public:
  IncomingGradient() = default;
  IncomingGradient(HostMemory& memory,
                   const std::vector<Lease>& parts,
                   const dnnl::memory& y,
                   bool relu);
  void gather();
  const Lease& lease() const { return sum_; }
  /// Frees its memory for other layers, once the results from it have their own.
  void drop() { sum_.hold.reset(); }
  const dnnl::memory& tensor() const { return sum_.tensor; }

 private:
  std::vector<dnnl::memory> parts_;
  dnnl::memory y_;
  bool relu_ = false;
  Lease sum_;
};

/// A layer with one input; writes the gradient in that input's layout.
class SingleInputLayer : public HostLayer {
 public:
  std::vector<Lease> prepare_backward(const std::vector<Lease>& parts, bool wanted) final;

 protected:
  explicit SingleInputLayer(const LayerPlace& place)
      : memory_(place.memory), x_(place.inputs[0].tensor) {}
  /// Called once, while `incoming_` still has its memory and `dx_` its own: prepares backward().
  virtual void make_backward() {}

  HostMemory& memory_;
  dnnl::memory x_, dx_;
  IncomingGradient incoming_;
};

/// A layer that is one primitive of oneDNN in each direction, row by row.
class PrimitiveLayer : public SingleInputLayer {
 public:
  void forward(std::span<const float>, Moments) final { run_each(run_forward_); }
  void backward(std::span<const float>, std::span<float>) final {
    incoming_.gather();
    run_each(run_backward_);
  }

 protected:
  PrimitiveLayer(const LayerPlace& place, double flops_of_an_element);

  RowSlices slices_;
  std::vector<Primitive> run_forward_, run_backward_;  ///< slice by slice

 private:
  static void run_each(std::vector<Primitive>& slices) {
    run_slices(slices.size(), [&slices](std::size_t i) { slices[i].run(); });
  }
};

// One function for each op; host_<family>.cpp.
using LayerPointer = std::unique_ptr<HostLayer>;
LayerPointer make_host_convolution(const LayerPlace& place);
LayerPointer make_host_linear(const LayerPlace& place);
LayerPointer make_host_activation(const LayerPlace& place);  ///< relu of its own, gelu
LayerPointer make_host_max_pool(const LayerPlace& place);
LayerPointer make_host_average_pool(const LayerPlace& place);
LayerPointer make_host_picture_norm(const LayerPlace& place);  ///< batch and group
LayerPointer make_host_layer_norm(const LayerPlace& place);
LayerPointer make_host_add(const LayerPlace& place);
LayerPointer make_host_shortcut(const LayerPlace& place);
/// `tokens`: [rows][positions], filled before each forward.
LayerPointer make_host_embedding(const LayerPlace& place, std::span<const std::uint8_t> tokens);
LayerPointer make_host_attention(const LayerPlace& place);

}  // namespace gv
