#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <cuda_runtime_api.h>

#include "gpu/device/device_memory.h"
#include "gpu/device/sum_pair.h"
#include "optim/data/dataset.h"

namespace gv::gpu {

/// Memory in which the losses of a minibatch's lines of logits are summed.
struct LossSums {
  SumPair* partial;  ///< [blocks_for(lines)]: sums of each block of lines
  std::uint32_t* came;
  double* result;  ///< two values
};

/// result[0] <- the mean cross-entropy of `lines` rows of logits z (lines x classes), which become
/// its gradient; as softmax_cross_entropy.
void cross_entropy(float* z,
                   const std::uint8_t* labels,
                   std::uint32_t lines,
                   std::uint32_t classes,
                   const LossSums& sums,
                   cudaStream_t stream);
/// result[0] <- the sum of cross-entropies, result[1] <- the number of right answers; as
/// score_logits.
void score(const float* z,
           const std::uint8_t* labels,
           std::uint32_t lines,
           std::uint32_t classes,
           const LossSums& sums,
           cudaStream_t stream);

/// Destination of gathered rows: device memory of the network.
struct Gathered {
  float* input = nullptr;          ///< rows x features; null for a text
  std::uint8_t* tokens = nullptr;  ///< rows x context, for a text
  std::uint8_t* labels = nullptr;  ///< rows, or rows x context
};

/// Rows of a data set from which the device gathers minibatches. If they fit into the device's
/// memory they stay there; else the rows of each minibatch are sent, in their stored form. A
/// minibatch's row numbers, or its rows, travel on a separate stream into one of two places: while
/// the device works with one place, the other is filled.
class Samples {
 public:
  static constexpr unsigned places = 2;

  /// own: all rows that minibatches will use. They take at most `room` bytes of the device. If they
  /// do not fit after all, because other peers were faster, they are streamed.
  Samples(std::shared_ptr<const Dataset> data,
          std::span<const std::uint32_t> own,
          std::uint32_t most_rows,
          std::size_t room);
  ~Samples();

  bool resident() const { return resident_; }
  /// Sends the rows of `place` and returns; the host gathers now, the copy is asynchronous. The
  /// work of the last put() of this place must be done. Rows sent here earlier without a put() may
  /// still be under way, and torn; this copy comes after them.
  /// rows: some of the own rows. views: of each row's picture; empty if pictures are unchanged.
  void send(unsigned place, std::span<const std::uint32_t> rows, std::span<const View> views = {});
  /// Makes later work of `stream` wait until `place` is full.
  void hold(unsigned place, cudaStream_t stream) const { places_[place].full.hold(stream); }
  /// Puts the samples and labels of the rows in `place` into `to`, normalized as Dataset::gather
  /// does. The work depends on the place, on the number of rows and on whether there are views, not
  /// on which rows they are: it can be captured once and replayed.
  void put(unsigned place, const Gathered& to, cudaStream_t stream);

 private:
  /// Data to send, in page-locked memory and on the device.
  template <class T>
  struct Sent {
    Sent() = default;
    Sent(std::size_t count, const char* what) : host(count, what), device(count, what) {}
    PinnedArray<T> host;
    DeviceArray<T> device;
  };
  struct Place {
    std::uint32_t rows_sent = 0;
    bool viewed = false;
    Sent<View> views;
    Sent<std::uint32_t> rows;                  ///< resident: indices of the rows
    Sent<std::uint8_t> bytes, tokens, labels;  ///< streamed: the rows themselves
    Sent<float> floats;
    Event full;
  };
  /// Device pointers to rows: the resident ones, or those sent to a place.
  struct Source {
    const std::uint8_t* bytes;
    const float* floats;
    const std::uint8_t* tokens;
    const std::uint8_t* labels;
    const std::uint32_t* rows;
  };

  void upload(std::span<const std::uint32_t> own);
  bool upload_if_it_fits(std::span<const std::uint32_t> own);
  void make_room(Place& place, std::uint32_t most_rows) const;
  void collect(Place& place, std::span<const std::uint32_t> rows) const;
  Source source(const Place& place) const;
  std::size_t row_tokens() const { return std::size_t{data_->context} + 1; }

  std::shared_ptr<const Dataset> data_;
  bool resident_;
  DeviceArray<float> shift_, scale_;
  // Resident: the own rows (a text whole), and [row]: its index among them; empty if as in the set.
  std::vector<std::uint32_t> place_of_;
  DeviceArray<std::uint8_t> bytes_, labels_, tokens_;
  DeviceArray<float> floats_;
  // Streamed: offsets of the rows of a place, which lie one after the other.
  DeviceArray<std::uint32_t> in_order_;
  Stream copy_;
  Place places_[places];
};

}  // namespace gv::gpu
