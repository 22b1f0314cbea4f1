#pragma once

#include <deque>
#include <memory>

#include "gpu/device/memory.h"
#include "optim/buffer.h"

namespace gv::gpu {

/// The vectors that have come and are not mixed yet, on the device. Places are made as more of them
/// wait at once, up to a bound; what finds none goes to the device when it is mixed.
/// Invariant: a place belongs to its vector as long as somebody holds that; nobody here does, so
/// that it is given back where it was taken, on the peer's loop.
class Inbox {
 public:
  Inbox() = default;
  Inbox(const Inbox&) = delete;
  Inbox& operator=(const Inbox&) = delete;

  /// Copies a vector and returns when that is done; no other stream is waited for.
  void take(const Payload& piece);
  /// Returns where the vector is; null: it was not taken.
  const float* find(const Buffer& piece) const;

 private:
  struct Place {
    DeviceArray<float> floats;
    const Buffer* at = nullptr;
    std::weak_ptr<const Buffer> piece{};  ///< gone: the place is free
  };
  Place* free_place(std::size_t count);
  Place* new_place(std::size_t count);

  Stream copy_;
  std::deque<Place> places_;
  std::size_t floats_ = 0;  ///< of all places
  bool full_ = false;       ///< the device has no room for more places
};

}  // namespace gv::gpu
