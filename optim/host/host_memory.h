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
#include "optim/models/network_builder.h"

// What the layers of a network on the CPU share: oneDNN's handles, and memory that is lent and
// taken back while the network is put together, so that values that never live at the same time lie
// at the same place. No pass lends any more.

namespace gv {

/// A tensor, and the right to its memory: when the last copy of `hold` is gone, others may be lent
/// it. Whoever only computes keeps `tensor` alone.
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
  /// Zeros at first; later what the one before left there. Aligned to 64 bytes.
  Lease lend(const dnnl::memory::desc& layout);
  /// A tensor somewhere in the flat parameter or gradient vector: point_at() says where.
  dnnl::memory floating(const dnnl::memory::desc& layout);

  /// oneDNN's own scratch is bound to the thread that made a primitive; this one is not. Primitives
  /// reserve it while they are made, and those of one place share it when they run: what may run at
  /// the same time has places of its own.
  void reserve_scratch(std::size_t place, std::size_t bytes);
  void* scratch(std::size_t place);

 private:
  struct Shelf;

  dnnl::engine engine_;
  dnnl::stream stream_;
  std::shared_ptr<Shelf> shelf_;
  /// The scratch of a place; it is not lent, as what is on the shelf is in use when they run.
  struct Scratch {
    std::size_t bytes = 0;
    std::unique_ptr<Buffer> buffer;
  };
  std::vector<Scratch> scratch_;
};

inline float* floats(const dnnl::memory& tensor) {
  return static_cast<float*>(tensor.get_data_handle());
}
/// Counts the floats, with what oneDNN pads.
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
  /// The scratch is the caller's.
  static dnnl::primitive_attr attributes();
  void run();
  explicit operator bool() const { return memory_ != nullptr; }

 private:
  HostMemory* memory_ = nullptr;
  dnnl::primitive primitive_;
  Arguments arguments_;
  dnnl::memory::desc scratch_;
  std::size_t place_ = 0;  ///< of its scratch
  bool bound_ = false;
};

/// A conversion to the same values in another layout; costs nothing where the layouts agree.
class Conversion {
 public:
  Conversion() = default;
  /// Converts `from` to the layout `wanted`.
  static Conversion of(HostMemory& memory,
                       const dnnl::memory& from,
                       const dnnl::memory::desc& wanted);
  /// Makes what is computed in the layout `made` come to lie in `to`.
  static Conversion into(HostMemory& memory,
                         const dnnl::memory::desc& made,
                         const dnnl::memory& to);
  void run() {
    if (reorder_) reorder_.run();
  }
  /// The other end: where `of` converts to, or where `into` converts from.
  const dnnl::memory& tensor() const { return lease_.tensor; }
  /// Returns the same tensor for one who comes after run().
  Conversion again() const {
    Conversion other;
    other.lease_ = lease_;
    return other;
  }
  /// Others may be lent its memory, from the next primitive on.
  void drop() { lease_.hold.reset(); }

 private:
  Lease lease_;
  Primitive reorder_;
};

/// The layout of `rows` rows that lie as those of `layout`; empty where its rows do not lie one
/// behind the other.
std::optional<dnnl::memory::desc> with_rows(const dnnl::memory::desc& layout, std::uint32_t rows);
/// Rows [begin, begin + rows) of a tensor for whose layout there is with_rows().
dnnl::memory rows_of(const dnnl::memory& tensor, std::uint32_t begin, std::uint32_t rows);

/// The way a picture lies: [rows][channels / block][pixels][block], with zeros behind the last
/// channel. nchw is block 1, nhwc one block of all channels.
struct PictureLayout {
  std::size_t rows, channels, height, width, block;

  std::size_t pixels() const { return height * width; }
  std::size_t blocks() const { return (channels + block - 1) / block; }
  std::size_t padded_channels() const { return blocks() * block; }
  /// Returns the place of pixel 0 of channel c of a row.
  std::size_t at(std::size_t row, std::size_t c) const {
    return (row * blocks() + c / block) * pixels() * block + c % block;
  }
};
/// Empty for a layout of another kind.
std::optional<PictureLayout> picture_layout(const dnnl::memory::desc& layout);
/// Returns that of a tensor of which it is known that it has one.
PictureLayout layout_of(const dnnl::memory& tensor);

/// [rows][channels][height][width]; format any: as a primitive likes it.
dnnl::memory::desc picture_of(std::uint32_t rows,
                              const Shape& shape,
                              dnnl::memory::format_tag format = dnnl::memory::format_tag::nchw);
/// [rows x positions][channels x height x width]
dnnl::memory::desc matrix_of(std::uint32_t rows, const Shape& shape);

}  // namespace gv
