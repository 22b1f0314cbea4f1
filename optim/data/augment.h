#pragma once

#include <cstdint>
#include <span>

#include "optim/data/dataset.h"
#include "optim/rng.h"

namespace gv {

/// The changes that may befall a picture each time it is drawn into a minibatch.
struct AugmentSpec {
  bool crop = false;  ///< a random place of the picture inside a border of `crop_padding` zeros
  bool flip = false;  ///< mirrored left to right, every other time

  bool any() const { return crop || flip; }
};

/// "4 pixels are padded on each side, and a 32x32 crop is randomly sampled from the padded image or
/// its horizontal flip": He et al. 2016, arXiv:1512.03385, section 4.2.
inline constexpr std::int32_t crop_padding = 4;

/// The next view: down and right uniform in [-crop_padding, crop_padding], mirrored with
/// probability 1/2. Draws the same numbers whichever of the two is asked for.
View draw_view(const AugmentSpec& spec, Rng& rng);

/// out <- `picture` as the view shows it; both [channel][row][column] and apart.
void look(const View& view,
          const ImageShape& shape,
          std::span<const float> picture,
          std::span<float> out);

}  // namespace gv
