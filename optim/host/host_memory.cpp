#include <cstring>

#include "optim/check.h"
#include "optim/host/host_layer.h"
#include "optim/host/slices.h"

namespace gv {
namespace {

using Layout = dnnl::memory::desc;

Primitive make_reorder(HostMemory& memory, const dnnl::memory& from, const dnnl::memory& to) {
  const dnnl::reorder::primitive_desc description(memory.engine(), from.get_desc(), memory.engine(),
                                                  to.get_desc(), Primitive::attributes());
  return {
      memory, description, dnnl::reorder(description), {{DNNL_ARG_FROM, from}, {DNNL_ARG_TO, to}}};
}

}  // namespace

/// Owns every block; `free` lists those that are not lent.
struct HostMemory::Shelf {
  std::vector<std::unique_ptr<Buffer>> all;
  std::vector<Buffer*> free;
};

HostMemory::HostMemory()
    : engine_(dnnl::engine::kind::cpu, 0), stream_(engine_), shelf_(std::make_shared<Shelf>()) {
  keep_library_on_this_thread();  // this thread makes the primitives
}

Lease HostMemory::lend(const Layout& layout) {
  const std::size_t bytes = std::max<std::size_t>(layout.get_size(), sizeof(float));
  Buffer* chosen = nullptr;
  for (Buffer* block : shelf_->free)
    if (block->capacity() >= bytes && block->capacity() <= 2 * bytes &&
        (chosen == nullptr || block->capacity() < chosen->capacity()))
      chosen = block;
  if (chosen != nullptr) {
    std::erase(shelf_->free, chosen);
  } else {
    shelf_->all.push_back(std::make_unique<Buffer>(bytes));
    chosen = shelf_->all.back().get();
    std::memset(chosen->data(), 0, chosen->capacity());
  }
  std::shared_ptr<const void> hold(chosen->data(),
                                   [shelf = std::weak_ptr(shelf_), chosen](const void*) {
                                     if (const auto alive = shelf.lock())
                                       alive->free.push_back(chosen);
                                   });
  return {dnnl::memory(layout, engine_, chosen->data()), std::move(hold)};
}

dnnl::memory HostMemory::floating(const Layout& layout) {
  return {layout, engine_, nullptr};
}

void HostMemory::reserve_scratch(std::size_t place, std::size_t bytes) {
  scratch_.resize(std::max(scratch_.size(), place + 1));
  scratch_[place].bytes = std::max(scratch_[place].bytes, bytes);
}

void* HostMemory::scratch(std::size_t place) {
  Scratch& scratch = scratch_.at(place);
  if (!scratch.buffer) scratch.buffer = std::make_unique<Buffer>(scratch.bytes);
  GV_CHECK(scratch.buffer->capacity() >= scratch.bytes,
           "all primitives are made before the first runs");
  return scratch.buffer->data();
}

void point_at(dnnl::memory& tensor, const float* values) {
  tensor.set_data_handle(const_cast<float*>(values));
}

dnnl::primitive_attr Primitive::attributes() {
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  return attributes;
}

void Primitive::run() {
  if (!bound_) {
    arguments_[DNNL_ARG_SCRATCHPAD] =
        dnnl::memory(scratch_, memory_->engine(), memory_->scratch(place_));
    bound_ = true;
  }
  keep_library_on_this_thread();
  primitive_.execute(memory_->stream(), arguments_);
}

Conversion Conversion::of(HostMemory& memory, const dnnl::memory& from, const Layout& wanted) {
  Conversion conversion;
  if (from.get_desc() == wanted) {
    conversion.lease_ = {from, nullptr};
  } else {
    conversion.lease_ = memory.lend(wanted);
    conversion.reorder_ = make_reorder(memory, from, conversion.lease_.tensor);
  }
  return conversion;
}

Conversion Conversion::into(HostMemory& memory, const Layout& made, const dnnl::memory& to) {
  Conversion conversion;
  if (to.get_desc() == made) {
    conversion.lease_ = {to, nullptr};
  } else {
    conversion.lease_ = memory.lend(made);
    conversion.reorder_ = make_reorder(memory, conversion.lease_.tensor, to);
  }
  return conversion;
}

std::optional<Layout> with_rows(const Layout& layout, std::uint32_t rows) {
  if (layout.data.dims[0] == rows) return layout;
  if (layout.data.format_kind != dnnl_blocked) return {};
  const dnnl_blocking_desc_t& blocking = layout.data.format_desc.blocking;
  const auto count = static_cast<std::size_t>(layout.data.dims[0]);
  const auto stride = static_cast<std::size_t>(blocking.strides[0]);
  const bool apart =
      count * stride * dnnl_data_type_size(layout.data.data_type) == layout.get_size();
  const std::span<const dnnl_dim_t> blocked(blocking.inner_idxs,
                                            static_cast<std::size_t>(blocking.inner_nblks));
  if (!apart || std::ranges::find(blocked, 0) != blocked.end()) return {};
  Layout other = layout;
  other.data.dims[0] = other.data.padded_dims[0] = rows;
  return other;
}

dnnl::memory rows_of(const dnnl::memory& tensor, std::uint32_t begin, std::uint32_t rows) {
  const Layout all = tensor.get_desc();
  if (all.data.dims[0] == rows) return tensor;
  const auto stride = static_cast<std::size_t>(all.data.format_desc.blocking.strides[0]);
  const std::size_t bytes = begin * stride * dnnl_data_type_size(all.data.data_type);
  return {*with_rows(all, rows), tensor.get_engine(),
          static_cast<std::byte*>(tensor.get_data_handle()) + bytes};
}

std::optional<PictureLayout> picture_layout(const Layout& layout) {
  const dnnl_memory_desc_t& data = layout.data;
  if (data.ndims != 4 || data.format_kind != dnnl_blocked) return {};
  const dnnl_blocking_desc_t& blocking = data.format_desc.blocking;
  const auto extent = [&](int k) { return static_cast<std::size_t>(data.dims[k]); };
  PictureLayout picture{extent(0), extent(1), extent(2), extent(3), 1};
  if (blocking.inner_nblks == 1 && blocking.inner_idxs[0] == 1) {
    picture.block = static_cast<std::size_t>(blocking.inner_blks[0]);
  } else if (blocking.inner_nblks != 0) {
    return {};
  } else if (blocking.strides[1] == 1 && picture.pixels() > 1) {
    picture.block = picture.channels;
  }
  const std::size_t expected[] = {picture.padded_channels() * picture.pixels(),
                                  picture.pixels() * picture.block, picture.width * picture.block,
                                  picture.block};
  for (int k = 0; k < 4; ++k) {
    const bool single = extent(k) == 1 || (k == 1 && picture.blocks() == 1);
    if (!single && static_cast<std::size_t>(blocking.strides[k]) != expected[k]) return {};
  }
  return picture;
}

PictureLayout layout_of(const dnnl::memory& tensor) {
  const std::optional<PictureLayout> layout = picture_layout(tensor.get_desc());
  GV_CHECK(layout.has_value(), "a picture in blocks of channels");
  return *layout;
}

Layout picture_of(std::uint32_t rows, const Shape& shape, dnnl::memory::format_tag format) {
  return {{rows, shape.channels, shape.height, shape.width}, dnnl::memory::data_type::f32, format};
}

Layout matrix_of(std::uint32_t rows, const Shape& shape) {
  const auto width = static_cast<std::int64_t>(shape.elements() / shape.positions);
  return {{std::int64_t{rows} * shape.positions, width},
          dnnl::memory::data_type::f32,
          dnnl::memory::format_tag::ab};
}

}  // namespace gv
