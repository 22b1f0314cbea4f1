#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "optim/rng.h"

namespace gv {

/// A peer's own stream of minibatches: its rows in a new random order each epoch, without
/// replacement. A batch that reaches past the end of an epoch goes on in the next order.
class Minibatches {
 public:
  /// Throws std::invalid_argument when rows is empty.
  Minibatches(std::vector<std::uint32_t> rows, Rng rng);
  /// The next `batch` rows; valid until the next call.
  std::span<const std::uint32_t> next(std::uint32_t batch);
  std::uint32_t rows() const { return static_cast<std::uint32_t>(order_.size()); }

  void save(StateWriter& out) const;
  /// Throws std::runtime_error unless it was saved of the same rows.
  void restore(StateReader& in);

 private:
  std::vector<std::uint32_t> order_;
  std::vector<std::uint32_t> chosen_;
  std::size_t position_;
  Rng rng_;
};

}  // namespace gv
