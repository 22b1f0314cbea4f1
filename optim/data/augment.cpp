#include "optim/data/augment.h"

#include <algorithm>

#include "optim/check.h"

namespace gv {
namespace {

/// One row: out[x] <- in[x + right], zero beyond the edges.
void slide(std::span<const float> in, std::int32_t right, std::span<float> out) {
  const auto width = static_cast<std::int32_t>(in.size());
  for (std::int32_t x = 0; x < width; ++x) {
    const std::int32_t from = x + right;
    const bool inside = from >= 0 && from < width;
    out[static_cast<std::size_t>(x)] = inside ? in[static_cast<std::size_t>(from)] : 0.0F;
  }
}

}  // namespace

View draw_view(const AugmentSpec& spec, Rng& rng) {
  constexpr std::uint64_t places = 2 * crop_padding + 1;
  const auto down = static_cast<std::int32_t>(rng.below(places)) - crop_padding;
  const auto right = static_cast<std::int32_t>(rng.below(places)) - crop_padding;
  const bool mirrored = rng.below(2) == 1;
  View view;
  if (spec.crop) view = {static_cast<std::int8_t>(down), static_cast<std::int8_t>(right), false};
  view.mirrored = spec.flip && mirrored;
  return view;
}

void look(const View& view,
          const ImageShape& shape,
          std::span<const float> picture,
          std::span<float> out) {
  const std::size_t width = shape.width;
  const std::size_t plane = shape.height * width;
  GV_CHECK_EQUAL(picture.size(), shape.channels * plane, "a picture of the shape");
  GV_CHECK_EQUAL(out.size(), picture.size(), "room for the picture");
  for (std::size_t c = 0; c < shape.channels; ++c) {
    for (std::int64_t y = 0; y < std::int64_t{shape.height}; ++y) {
      const std::int64_t from = y + view.down;
      const std::span<float> row =
          out.subspan(c * plane + static_cast<std::size_t>(y) * width, width);
      if (from < 0 || from >= std::int64_t{shape.height}) {
        std::ranges::fill(row, 0.0F);
        continue;
      }
      slide(picture.subspan(c * plane + static_cast<std::size_t>(from) * width, width),
            view.right,
            row);
      if (view.mirrored) std::ranges::reverse(row);
    }
  }
}

}  // namespace gv
