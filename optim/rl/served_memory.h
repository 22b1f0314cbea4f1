#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "optim/buffer.h"
#include "optim/rl/memory.h"

namespace gv {

struct EnvironmentRow;

/// The form of an environment's transitions on their way between processes.
struct TransitionForm {
  std::uint32_t numbers = 1;  ///< of what is seen
  std::uint32_t actions = 1;
  bool binary = false;  ///< what is seen is 0 or 1: a byte each

  std::size_t bytes() const;  ///< of one transition
};

TransitionForm form_of(const EnvironmentRow& row);

/// Transitions as they travel, little-endian, all of one kind together:
///   actions:u32 rewards:f32 futures:f32 weights:f32 seen next     [rows] each
/// From an actor to a memory `weights` are the sizes of the errors that it found, from a memory to
/// a learner the importance weights.
std::shared_ptr<Buffer> pack_transitions(const Drawn& rows, const TransitionForm& form);
/// Unpacks them, without places. Nothing: they are no transitions of this form, none at all, or
/// more than `most_rows`. What they say is not believed: an action that there is, rewards, weights
/// and what is seen finite, a future in 0..1, no negative weight, and no byte but 0 and 1.
std::optional<Drawn> unpack_transitions(const Buffer& packed,
                                        const TransitionForm& form,
                                        std::size_t most_rows);

/// Sizes of errors, as a learner sends them back to the memory that drew the transitions. Null:
/// there are none, or one is no number, as of a model that has diverged.
std::shared_ptr<Buffer> pack_errors(std::span<const float> errors);
/// Nothing: they are not exactly so many, or one of them is negative or not finite.
std::optional<std::vector<float>> unpack_errors(const Buffer& packed, std::size_t rows);

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
