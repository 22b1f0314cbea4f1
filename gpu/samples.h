#pragma once

#include <memory>
#include <span>

#include "gpu/memory.h"
#include "optim/dataset.h"

namespace gv::gpu {

/// Where gathered rows go: device memory of the network's.
struct Gathered {
  float* input = nullptr;          ///< rows x features; not of a text
  std::uint8_t* tokens = nullptr;  ///< rows x context, of a text
  std::uint8_t* labels = nullptr;  ///< rows, or rows x context
};

/// A data set as the device gathers minibatches from it: whole in the device's memory where it
/// fits, else gathered on the host into page-locked memory.
class Samples {
 public:
  /// At most `room` bytes of the device for the whole set.
  Samples(std::shared_ptr<const Dataset> data, std::uint32_t most_rows, std::size_t room);

  const Dataset& data() const { return *data_; }
  bool resident() const { return resident_; }
  /// Says which rows come next. Not before the work of the last put() is done.
  /// views: of each row's picture; none: as they are.
  void choose(std::span<const std::uint32_t> rows, std::span<const View> views = {});
  /// Puts the chosen rows' samples and labels into `to`, normalized as Dataset::gather does. What
  /// it puts into the stream depends on how many rows were chosen and whether with views, not on
  /// which: it can be captured once and replayed.
  void put(const Gathered& to, cudaStream_t stream);

 private:
  void upload();
  void put_resident(const Gathered& to, cudaStream_t stream);
  void put_streamed(const Gathered& to, cudaStream_t stream);
  std::size_t labels_of(std::size_t rows) const;

  std::shared_ptr<const Dataset> data_;
  bool resident_;
  std::uint32_t chosen_ = 0;
  bool viewed_ = false;
  // Resident: the set, and the rows' numbers.
  DeviceArray<std::uint8_t> bytes_, labels_, tokens_;
  DeviceArray<float> floats_, shift_, scale_;
  DeviceArray<std::uint32_t> rows_;
  PinnedArray<std::uint32_t> host_rows_;
  DeviceArray<View> views_;
  PinnedArray<View> host_views_;
  // Streamed: the gathered rows.
  PinnedArray<float> host_input_;
  PinnedArray<std::uint8_t> host_tokens_, host_labels_;
};

/// loss <- the mean cross-entropy of `lines` rows of logits z (lines x classes), which become its
/// gradient; as softmax_cross_entropy. losses: room for `lines`.
void cross_entropy(float* z,
                   const std::uint8_t* labels,
                   std::uint32_t lines,
                   std::uint32_t classes,
                   double* losses,
                   double* loss,
                   cudaStream_t stream);
/// score[0] <- the sum of the cross-entropies, score[1] <- the right answers; as score_logits.
void score(const float* z,
           const std::uint8_t* labels,
           std::uint32_t lines,
           std::uint32_t classes,
           double* losses,
           double* score,
           cudaStream_t stream);

}  // namespace gv::gpu
