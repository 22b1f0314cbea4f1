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
/// replacement. A batch that reaches past the end of an epoch goes on in the next order. Views of
/// augmented pictures come from a stream beside it: the rows are the same with and without.
class Minibatches {
 public:
  /// Throws std::invalid_argument when rows is empty.
  Minibatches(std::vector<std::uint32_t> rows, Rng rng, AugmentSpec augment = {});
  /// The next `batch` rows; valid until the next call.
  std::span<const std::uint32_t> next(std::uint32_t batch);
  /// Says how the last batch's pictures are seen, for Dataset::gather; empty without augmentation.
  std::span<const View> views() const { return views_; }
  std::uint32_t rows() const { return static_cast<std::uint32_t>(order_.size()); }

  void save(StateWriter& out) const;
  /// Throws std::runtime_error unless it was saved of the same rows, augmented as these.
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

/// Samples on their way to a process that trains on them in another one's place: their number, the
/// features as the data set has them (bytes, floats, tokens, or columns and values), labels or
/// targets, and how augmented pictures are seen. Little-endian.
std::shared_ptr<Buffer> pack(const Dataset& data,
                             std::span<const std::uint32_t> rows,
                             std::span<const View> views);

/// Samples as a data set of their own, all of them, whose shape, shift and scale are those of
/// `like`.
struct Unpacked {
  Dataset data;
  std::vector<std::uint32_t> rows;  ///< of it; of a text not all are samples
  std::vector<View> views;          ///< one of each, or none
};
/// Nothing: they are no samples of data like these. What they say is not believed: they come over
/// the network.
std::optional<Unpacked> unpack(const Buffer& packed, const Dataset& like);

/// A part of a minibatch, and what share of it.
struct Slice {
  std::shared_ptr<const Buffer> samples;  ///< packed
  double share = 1;
};
/// The next minibatch in so many parts, whose sizes differ by one at the most; in fewer where it
/// has fewer samples.
std::vector<Slice> draw_slices(const Dataset& data,
                               Minibatches& from,
                               std::uint32_t batch,
                               std::uint32_t parts);

/// The most bytes that any so many samples of these data take.
std::size_t most_packed_bytes(const Dataset& data, std::size_t samples, bool augmented);

}  // namespace gv
