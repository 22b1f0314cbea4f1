#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "gpu/device/memory.h"
#include "optim/data/dataset.h"

namespace gv::gpu {

/// The place where gathered rows go: device memory of the network's.
struct Gathered {
  float* input = nullptr;          ///< rows x features; not of a text
  std::uint8_t* tokens = nullptr;  ///< rows x context, of a text
  std::uint8_t* labels = nullptr;  ///< rows, or rows x context
};

/// Rows of a data set as the device gathers minibatches from them: in the device's memory where
/// they fit; else the rows of each minibatch are sent there, as they are stored. What a minibatch
/// needs (its rows' numbers, or the rows) travels on a stream of its own into one of two places:
/// while the device works with what is in one, the other is filled.
class Samples {
 public:
  static constexpr unsigned places = 2;

  /// own: the rows that will be asked for. They take at most `room` bytes of the device; where they
  /// do not fit after all, since others were faster, they are streamed.
  Samples(std::shared_ptr<const Dataset> data,
          std::span<const std::uint32_t> own,
          std::uint32_t most_rows,
          std::size_t room);
  ~Samples();

  bool resident() const { return resident_; }
  /// Sends what `place` is to hold and returns; the host gathers, the copy goes on behind. The work
  /// of the last put() of this place must be done. What was sent here and never put may still be
  /// under way, and torn: this copy comes after it.
  /// rows: of the own ones. views: of each row's picture; none: as they are.
  void send(unsigned place, std::span<const std::uint32_t> rows, std::span<const View> views = {});
  /// Work given to `stream` from now on begins when `place` is full.
  void hold(unsigned place, cudaStream_t stream) const { places_[place].full.hold(stream); }
  /// Puts the samples and labels of the rows in `place` into `to`, normalized as Dataset::gather
  /// does. What it puts into the stream depends on the place, on how many rows were sent and
  /// whether with views, not on which: it can be captured once and replayed.
  void put(unsigned place, const Gathered& to, cudaStream_t stream);

 private:
  /// The data that are sent, in page-locked memory and on the device.
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
    Sent<std::uint32_t> rows;                  ///< resident: their places there
    Sent<std::uint8_t> bytes, tokens, labels;  ///< streamed: the rows themselves
    Sent<float> floats;
    Event full;
  };
  /// The place where the device finds rows: those that it holds, or what was sent to a place.
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
  // Resident: the own rows, a text whole, and [row]: its place among them; none: as in the set.
  std::vector<std::uint32_t> place_of_;
  DeviceArray<std::uint8_t> bytes_, labels_, tokens_;
  DeviceArray<float> floats_;
  // Streamed: where the rows of a place begin, which lie one after the other.
  DeviceArray<std::uint32_t> in_order_;
  Stream copy_;
  Place places_[places];
};

}  // namespace gv::gpu
