#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "optim/buffer.h"
#include "optim/data/dataset.h"
#include "optim/data/minibatch.h"

namespace gv {

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
