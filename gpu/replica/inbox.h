#pragma once

#include <deque>
#include <memory>

#include "gpu/device/device_memory.h"
#include "optim/buffer.h"

namespace gv::gpu {

/// Vectors on the device that have arrived and are not mixed yet. Places are added as more vectors
/// wait at once, up to a bound; a vector without a place is copied when it is mixed.
/// Invariant: a place belongs to its vector while a caller holds that vector. The inbox does not
/// hold it, so that its memory returns to its pool on the peer's loop.
class Inbox {
 public:
  Inbox() = default;
  Inbox(const Inbox&) = delete;
  Inbox& operator=(const Inbox&) = delete;

  /// Copies a vector and returns when that is done; waits for no other stream.
  void take(const Payload& piece);
  /// Returns the address of the vector on the device, or null if it was not taken.
  const float* find(const Buffer& piece) const;

 private:
  struct Place {
    DeviceArray<float> floats;
    const Buffer* at = nullptr;
    std::weak_ptr<const Buffer> piece{};  ///< expired: the place is free
  };
  Place* free_place(std::size_t count);
  Place* new_place(std::size_t count);

  Stream copy_;
  std::deque<Place> places_;
  std::size_t floats_ = 0;  ///< size of all places
  bool full_ = false;       ///< whether the device has no room for more places
};

}  // namespace gv::gpu
