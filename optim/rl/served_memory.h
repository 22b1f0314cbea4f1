#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <vector>

#include "optim/rl/memory.h"
#include "optim/rl/transitions.h"

namespace gv {

/// A memory that others fill, and that others learn from.
struct ServedMemorySpec {
  MemorySpec memory{};
  TransitionForm form{};
  std::size_t most_rows = 1;      ///< of a chunk of transitions
  std::uint32_t warm_up = 1;      ///< transitions before the first minibatch, at least a batch
  double samples_per_insert = 0;  ///< learnt for each that is taken; 0: whatever comes
  std::map<std::uint32_t, std::uint32_t> batches{};  ///< of each learner, by its number
};

/// The counts of what a served memory has done. From the end of the warm-up on `learnt` is
/// samples_per_insert times `taken`, but for two minibatches and a chunk.
struct MemoryFigures {
  std::uint64_t inserted = 0;  ///< transitions, all
  std::uint64_t taken = 0;     ///< of them, since the warm-up
  std::uint64_t learnt = 0;    ///< samples handed out within the limit
  std::uint64_t kept = 0;      ///< transitions that are there
};

/// A replay memory that takes transitions in chunks, as actors send them, hands out minibatches,
/// and says when the next of either may be: how often each transition is learnt from is a number of
/// the fleet, and not of its machines. Horgan et al. 2018, arXiv:1803.00933; the limit is that of
/// Cassirer et al. 2021, "Reverb: a framework for experience replay", arXiv:2102.04736. Nothing
/// that comes from others is believed.
class ServedMemory {
 public:
  ServedMemory(ServedMemorySpec spec, Rng draws);

  /// Tells whether a chunk may be taken. One of may_take() and may_serve() holds, once it is warm.
  bool may_take() const;
  /// Takes all of a chunk. False: it is none, and the memory is as it was.
  bool take(const Buffer& chunk);

  bool warm() const { return warm_; }
  bool empty() const { return memory_.size() == 0; }
  /// Returns whether a minibatch may be handed out.
  bool may_serve() const;
  /// Minibatch `number` of a learner, packed; there must be something to draw. `counts`: within the
  /// limit, not for want of actors. Null: whoever asks is no learner of this memory.
  std::shared_ptr<Buffer> minibatch(std::uint32_t learner, std::uint64_t number, bool counts);
  /// Takes what a learner found wrong in its minibatch `number`: priorities of those places that
  /// have not been written again. What nobody drew, or too long ago, changes nothing. False: they
  /// are no errors of so many, and the memory is as it was.
  bool judge(std::uint32_t learner, std::uint64_t number, const Buffer& errors);

  MemoryFigures figures() const;

 private:
  /// A minibatch that waits for its errors.
  struct HandedOut {
    std::uint64_t number = 0;
    std::vector<std::uint32_t> places;
    std::uint64_t inserted = 0;  ///< when it was drawn
  };
  bool rewritten(std::uint32_t place, std::uint64_t since) const;

  ServedMemorySpec spec_;
  Memory memory_;
  Rng draws_;
  double slack_ = 0;  ///< samples
  bool warm_ = false;
  std::uint64_t inserted_ = 0, taken_ = 0, learnt_ = 0;
  std::map<std::uint32_t, std::deque<HandedOut>> handed_out_;  ///< by learner
};

}  // namespace gv
