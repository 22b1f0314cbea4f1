#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "optim/data/augment.h"
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

}  // namespace gv
