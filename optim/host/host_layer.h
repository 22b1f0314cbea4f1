#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include <oneapi/dnnl/dnnl.hpp>

#include "optim/buffer.h"
#include "optim/host/slices.h"
#include "optim/models/network_builder.h"

// Shared state of the layers of a network on the CPU: oneDNN's handles, and memory. Memory is lent
// and returned while the network is assembled, so that values that never live at the same time
// share memory. Passes lend nothing.

namespace gv {

/// A tensor, and the right to its memory: after the last copy of `hold` is gone, it may be lent
/// again. Code that only computes keeps just `tensor`.
struct Lease {
  dnnl::memory tensor;
  std::shared_ptr<const void> hold;
};

class HostMemory {
 public:
  HostMemory();
  HostMemory(const HostMemory&) = delete;
  HostMemory& operator=(const HostMemory&) = delete;

  dnnl::engine& engine() { return engine_; }
  dnnl::stream& stream() { return stream_; }
  /// Lends memory, aligned to 64 bytes. It contains zeros at first, later the previous user's
  /// values.
  Lease lend(const dnnl::memory::desc& layout);
  /// A tensor in the flat parameter or gradient vector; point_at() sets its place.
  dnnl::memory floating(const dnnl::memory::desc& layout);

  /// Scratch memory that is not bound to the thread that made a primitive, unlike oneDNN's own.
  /// Primitives reserve it when they are made, and those of one place share it when they run:
  /// primitives that may run at the same time need different places.
  void reserve_scratch(std::size_t place, std::size_t bytes);
  void* scratch(std::size_t place);

 private:
  struct Shelf;

  dnnl::engine engine_;
  dnnl::stream stream_;
  std::shared_ptr<Shelf> shelf_;
  /// The scratch of a place. It is not lent, because lent memory is in use when primitives run.
  struct Scratch {
    std::size_t bytes = 0;
    std::unique_ptr<Buffer> buffer;
  };
  std::vector<Scratch> scratch_;
};

inline float* floats(const dnnl::memory& tensor) {
  return static_cast<float*>(tensor.get_data_handle());
}
/// Counts the floats, including oneDNN's padding.
inline std::size_t float_count(const dnnl::memory& tensor) {
  return tensor.get_desc().get_size() / sizeof(float);
}
void point_at(dnnl::memory& tensor, const float* values);

/// The arguments of a primitive: DNNL_ARG_... -> tensor.
using Arguments = std::unordered_map<int, dnnl::memory>;

/// A primitive with its arguments.
class Primitive {
 public:
  Primitive() = default;
  /// `description` must have been made with attributes().
  template <class Description>
  Primitive(HostMemory& memory,
            const Description& description,
            dnnl::primitive primitive,
            Arguments arguments,
            std::size_t place = 0)
      : memory_(&memory),
        primitive_(std::move(primitive)),
        arguments_(std::move(arguments)),
        scratch_(description.scratchpad_desc()),
        place_(place) {
    memory.reserve_scratch(place, scratch_.get_size());
  }
  /// Attributes with scratch memory of the caller.
  static dnnl::primitive_attr attributes();
  void run();
  explicit operator bool() const { return memory_ != nullptr; }

 private:
  HostMemory* memory_ = nullptr;
  dnnl::primitive primitive_;
  Arguments arguments_;
  dnnl::memory::desc scratch_;
  std::size_t place_ = 0;  ///< place of its scratch
  bool bound_ = false;
};

/// A conversion of values to another layout; free if the layouts agree.
class Conversion {
 public:
  Conversion() = default;
  /// Converts `from` to the layout `wanted`.
  static Conversion of(HostMemory& memory,
                       const dnnl::memory& from,
                       const dnnl::memory::desc& wanted);
  /// Converts a result in the layout `made` into `to`.
  static Conversion into(HostMemory& memory,
                         const dnnl::memory::desc& made,
                         const dnnl::memory& to);
  void run() {
    if (reorder_) reorder_.run();
  }
  /// The other end: the target of `of`, the source of `into`.
  const dnnl::memory& tensor() const { return lease_.tensor; }
  /// Returns the converted tensor for a user after run().
  Conversion again() const {
    Conversion other;
    other.lease_ = lease_;
    return other;
  }
  /// Frees its memory for others, from the next primitive on.
  void drop() { lease_.hold.reset(); }

 private:
  Lease lease_;
  Primitive reorder_;
};

/// The layout of `rows` rows in the form of `layout`; empty if its rows are not contiguous.
std::optional<dnnl::memory::desc> with_rows(const dnnl::memory::desc& layout, std::uint32_t rows);
/// Rows [begin, begin + rows) of a tensor whose layout has with_rows().
dnnl::memory rows_of(const dnnl::memory& tensor, std::uint32_t begin, std::uint32_t rows);

/// The layout of a picture: [rows][channels / block][pixels][block], with zeros after the last
/// channel. nchw has block 1, nhwc one block of all channels.
struct PictureLayout {
  std::size_t rows, channels, height, width, block;

  std::size_t pixels() const { return height * width; }
  std::size_t blocks() const { return (channels + block - 1) / block; }
  std::size_t padded_channels() const { return blocks() * block; }
  /// Returns the offset of pixel 0 of channel c of a row.
  std::size_t at(std::size_t row, std::size_t c) const {
    return (row * blocks() + c / block) * pixels() * block + c % block;
  }
};
/// Returns the layout as a PictureLayout; empty for other layouts.
std::optional<PictureLayout> picture_layout(const dnnl::memory::desc& layout);
/// Returns the PictureLayout of a tensor, which must have one.
PictureLayout layout_of(const dnnl::memory& tensor);

/// [rows][channels][height][width]; with format any, the primitive chooses.
dnnl::memory::desc picture_of(std::uint32_t rows,
                              const Shape& shape,
                              dnnl::memory::format_tag format = dnnl::memory::format_tag::nchw);
/// [rows x positions][channels x height x width]
dnnl::memory::desc matrix_of(std::uint32_t rows, const Shape& shape);

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
