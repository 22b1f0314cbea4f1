#include "optim/host/host_memory.h"

#include <algorithm>
#include <cstring>

#include "optim/check.h"

namespace gv {
namespace {

using Layout = dnnl::memory::desc;

Primitive make_reorder(HostMemory& memory, const dnnl::memory& from, const dnnl::memory& to) {
  const dnnl::reorder::primitive_desc description(
      memory.engine(), from.get_desc(), memory.engine(), to.get_desc(), Primitive::attributes());
  return {
      memory, description, dnnl::reorder(description), {{DNNL_ARG_FROM, from}, {DNNL_ARG_TO, to}}};
}

}  // namespace

/// Owns every block; those on the shelf are free.
struct HostMemory::Shelf {
  std::vector<std::unique_ptr<Buffer>> all;
  std::vector<Buffer*> free;
};

HostMemory::HostMemory()
    : engine_(dnnl::engine::kind::cpu, 0), stream_(engine_), shelf_(std::make_shared<Shelf>()) {}

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

void* HostMemory::scratch() {
  if (!scratch_) scratch_ = std::make_unique<Buffer>(scratch_bytes_);
  GV_CHECK(scratch_->capacity() >= scratch_bytes_, "all primitives are made before the first runs");
  return scratch_->data();
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
    arguments_[DNNL_ARG_SCRATCHPAD] = dnnl::memory(scratch_, memory_->engine(), memory_->scratch());
    bound_ = true;
  }
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
                                  picture.pixels() * picture.block,
                                  picture.width * picture.block,
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
