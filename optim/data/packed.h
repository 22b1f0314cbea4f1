#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "optim/buffer.h"
#include "optim/data/dataset.h"
#include "optim/rng.h"

namespace gv {

/// A peer's own stream of minibatches: its rows in a new random order each epoch, without
/// replacement. A batch that crosses the end of an epoch continues in the next order. Views of
/// augmented pictures come from a separate stream: the rows are equal with and without.
class Minibatches {
 public:
  /// Throws std::invalid_argument if rows is empty.
  Minibatches(std::vector<std::uint32_t> rows, Rng rng, AugmentSpec augment = {});
  /// The next `batch` rows; valid until the next call.
  std::span<const std::uint32_t> next(std::uint32_t batch);
  /// Returns the views of the last batch's pictures, for Dataset::gather; empty without
  /// augmentation.
  std::span<const View> views() const { return views_; }
  std::uint32_t rows() const { return static_cast<std::uint32_t>(order_.size()); }

  void save(StateWriter& out) const;
  /// Throws std::runtime_error unless saved with the same rows and augmentation.
  void restore(StateReader& in);

 private:
  std::vector<std::uint32_t> order_;
  std::vector<std::uint32_t> chosen_;
  std::size_t position_;
  Rng rng_;
  AugmentSpec augment_;
  Rng view_rng_;
  std::vector<View> views_;
};

/// Packs samples for a process that trains on them in place of another: their number, the features
/// as in the data set (bytes, floats, tokens, or columns and values), labels or targets, and the
/// views of augmented pictures. Little-endian.
std::shared_ptr<Buffer> pack(const Dataset& data,
                             std::span<const std::uint32_t> rows,
                             std::span<const View> views);

/// Samples as a data set of their own, with the shape, shift and scale of `like`.
struct Unpacked {
  Dataset data;
  std::vector<std::uint32_t> rows;  ///< rows of `data` that are samples; in a text not all
  std::vector<View> views;          ///< one per row, or none
};
/// Unpacks samples from the network, without trust in their content; none if they are not
/// samples of data like `like`.
std::optional<Unpacked> unpack(const Buffer& packed, const Dataset& like);

/// A part of a minibatch, and its share of the minibatch.
struct Slice {
  std::shared_ptr<const Buffer> samples;  ///< packed
  double share = 1;
};
/// Draws the next minibatch in this number of parts, whose sizes differ by at most one; in fewer
/// parts if it has fewer samples.
std::vector<Slice> draw_slices(const Dataset& data,
                               Minibatches& from,
                               std::uint32_t batch,
                               std::uint32_t parts);

/// The maximum number of bytes of this number of packed samples.
std::size_t most_packed_bytes(const Dataset& data, std::size_t samples, bool augmented);

}  // namespace gv
