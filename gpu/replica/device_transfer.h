#pragma once

#include <cstdint>
#include <vector>

#include "gpu/device/memory.h"
#include "gpu/replica/inbox.h"
#include "gpu/replica/vector_kernels.h"
#include "optim/train/replica.h"

namespace gv::gpu {

/// Brings neighbours' vectors to the device and mixes them in. What was staged when it came is
/// mixed where it is. Of the rest, two slots: while a kernel mixes what is in one, the copy engine
/// fills the other; they are allocated when this is made.
class DeviceTransfer {
 public:
  /// `compute`: the replica's stream, on which x changes. It must outlive this.
  explicit DeviceTransfer(const Stream& compute);

  /// Takes what is soon to be mixed; see Inbox::take.
  void stage(const Payload& piece);
  /// Mixes the piece at `piece`; rule: null for mixing alone. Returns when all of it is done and
  /// the vectors are not needed any more.
  NotFinite mix(const Piece& piece, const Flows& flows, const StepRule* rule);
  /// x <- x + w (theirs - ours). False: theirs held values that are not finite.
  bool add_flow(float* x, std::size_t count, float w, const Buffer& theirs, const float* ours);
  /// v <- v + in.
  void add(float* v, std::size_t count, const float* in);
  /// Every element of v is.
  bool finite(const float* v, std::size_t count);

 private:
  struct Slot {
    DeviceArray<float> floats;
    Event full;  ///< the copies are done
    Event free;  ///< the kernel that read it is done
  };

  /// Elements of each of n vectors that a slot holds; a multiple of 4.
  static std::size_t room(std::size_t n);
  /// A slot to be filled by the copy stream.
  Slot& begin_filling();
  /// The compute stream goes on when the slot is full.
  void end_filling(const Slot& slot);
  void end_reading(const Slot& slot);
  /// What flows into the stretch from `done` on: from where it was staged, else by way of the slot.
  Inflow fill(Slot& slot, const Flows& flows, std::size_t done, std::size_t count);
  void send_weights(const Flows& flows);
  /// The first n marks of `bad_`, which are then cleared; waits for everything before.
  NotFinite read_bad(std::size_t n);

  const Stream& compute_;
  Stream copy_;
  Slot slots_[2];
  std::size_t next_ = 0;
  Inbox inbox_;
  bool few_ = true;                   ///< what was mixed last, so that it may be staged
  std::vector<const float*> staged_;  ///< of the vectors that are mixed: where; null: not
  DeviceArray<float> weights_;
  PinnedArray<float> host_weights_;
  DeviceArray<std::uint32_t> bad_;
  PinnedArray<std::uint32_t> host_bad_;
};

}  // namespace gv::gpu
