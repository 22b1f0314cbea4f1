#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "gpu/device/device_memory.h"
#include "gpu/kernels/vector_kernels.h"
#include "optim/buffer.h"
#include "optim/train/replica.h"

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

/// Copies neighbours' vectors to the device and mixes them in. Vectors that were staged on arrival
/// are mixed in their places. The others pass through two slots, allocated at the start: while a
/// kernel mixes one, the copy engine fills the other.
class DeviceTransfer {
 public:
  /// `compute`: the replica's stream, on which x changes. It must outlive this.
  explicit DeviceTransfer(const Stream& compute);

  /// Copies a vector that will soon be mixed; see Inbox::take.
  void stage(const Payload& piece);
  /// Mixes `flows` into `piece`; rule: null to mix without a step. Returns when all work is done
  /// and the vectors are not needed any more.
  NotFinite mix(const Piece& piece, const Flows& flows, const StepRule* rule);
  /// x <- x + w (theirs - ours). Returns false if theirs holds values that are not finite.
  bool add_flow(float* x, std::size_t count, float w, const Buffer& theirs, const float* ours);
  /// v <- v + in.
  void add(float* v, std::size_t count, const float* in);
  /// Returns whether every element of v is finite.
  bool finite(const float* v, std::size_t count);

 private:
  struct Slot {
    DeviceArray<float> floats;
    Event full;  ///< end of the copies
    Event free;  ///< end of the kernel that read it
  };

  /// Returns how many elements of each of n vectors fit into a slot; a multiple of 4.
  static std::size_t room(std::size_t n);
  /// Returns a slot for the copy stream to fill.
  Slot& begin_filling();
  /// Makes the compute stream wait until the slot is full.
  void end_filling(const Slot& slot);
  void end_reading(const Slot& slot);
  /// Returns the stretch from `done` on: staged vectors in their places, others copied to the slot.
  Inflow fill(Slot& slot, const Flows& flows, std::size_t done, std::size_t count);
  void send_weights(const Flows& flows);
  /// Returns which of n vectors `bad_` marks, and clears the marks; waits for earlier work.
  NotFinite read_bad(std::size_t n);

  const Stream& compute_;
  Stream copy_;
  Slot slots_[2];
  std::size_t next_ = 0;
  Inbox inbox_;
  bool few_ = true;                   ///< whether the last mix had few vectors; else none is staged
  std::vector<const float*> staged_;  ///< [vector]: its staged copy; null if it has none
  DeviceArray<float> weights_;
  PinnedArray<float> host_weights_;
  DeviceArray<std::uint32_t> bad_;
  PinnedArray<std::uint32_t> host_bad_;
};

}  // namespace gv::gpu
