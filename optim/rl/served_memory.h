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
#include "optim/rl/replay_memory.h"

namespace gv {

struct EnvironmentRow;

/// The form of an environment's transitions in messages between processes.
struct TransitionForm {
  std::uint32_t numbers = 1;  ///< numbers per observation
  std::uint32_t actions = 1;
  bool binary = false;  ///< observations are 0 or 1, a byte each

  std::size_t bytes() const;  ///< bytes of one transition
};

TransitionForm form_of(const EnvironmentRow& row);

/// Packs transitions for a message, little-endian, all values of one kind together:
///   actions:u32 rewards:f32 futures:f32 weights:f32 seen next     [rows] each
/// From an actor to a memory `weights` are the sizes of the errors that it computed, from a memory
/// to a learner the importance weights.
std::shared_ptr<Buffer> pack_transitions(const Drawn& rows, const TransitionForm& form);
/// Unpacks untrusted transitions, without places. Returns none unless they are of this form and
/// between 1 and `most_rows`. Checks that actions exist, that rewards, weights and observations are
/// finite, futures in 0..1, weights not negative, and binary bytes 0 or 1.
std::optional<Drawn> unpack_transitions(const Buffer& packed,
                                        const TransitionForm& form,
                                        std::size_t most_rows);

/// Packs sizes of errors, which a learner returns to the memory that drew the transitions. Null if
/// there are none, or one is not finite, as from a model that has diverged.
std::shared_ptr<Buffer> pack_errors(std::span<const float> errors);
/// Returns none unless there are exactly `rows` errors, all finite and not negative.
std::optional<std::vector<float>> unpack_errors(const Buffer& packed, std::size_t rows);

/// A memory that actors fill, and from which learners draw.
struct ServedMemorySpec {
  MemorySpec memory{};
  TransitionForm form{};
  std::size_t most_rows = 1;      ///< most transitions per chunk
  std::uint32_t warm_up = 1;      ///< transitions before the first minibatch, at least a batch
  double samples_per_insert = 0;  ///< samples learnt per transition taken; 0 for no limit
  std::map<std::uint32_t, std::uint32_t> batches{};  ///< by learner
};

/// Counts of a served memory. From the end of the warm-up on, `learnt` is samples_per_insert times
/// `taken`, within two minibatches and a chunk.
struct MemoryFigures {
  std::uint64_t inserted = 0;  ///< all transitions
  std::uint64_t taken = 0;     ///< transitions since the warm-up
  std::uint64_t learnt = 0;    ///< samples handed out within the limit
  std::uint64_t kept = 0;      ///< transitions in the memory
};

/// A replay memory that takes transitions in chunks from actors, hands out minibatches, and limits
/// both, so that the number of times each transition is learnt from depends on the fleet file, not
/// on its machines. Horgan et al. 2018, arXiv:1803.00933; the limit is that of Cassirer et al.
/// 2021, "Reverb: a framework for experience replay", arXiv:2102.04736. All inputs are untrusted.
class ServedMemory {
 public:
  ServedMemory(ServedMemorySpec spec, Rng draws);

  /// Returns whether a chunk may be taken. After the warm-up, may_take() or may_serve() holds.
  bool may_take() const;
  /// Takes a whole chunk. Returns false if it is invalid; the memory is then unchanged.
  bool take(const Buffer& chunk);

  bool warm() const { return warm_; }
  bool empty() const { return memory_.size() == 0; }
  /// Returns whether a minibatch may be handed out.
  bool may_serve() const;
  /// Returns minibatch `number` of a learner, packed; the memory must not be empty. `counts` is
  /// true if it counts towards the limit, false if it is served because actors are missing. Null if
  /// `learner` is not a learner of this memory.
  std::shared_ptr<Buffer> minibatch(std::uint32_t learner, std::uint64_t number, bool counts);
  /// Takes the errors of a learner in its minibatch `number`: sets the priorities of places that
  /// were not overwritten since. Ignores errors of minibatches that were not drawn, or too long
  /// ago. Returns false if these are not errors of the right number; the memory is then unchanged.
  bool judge(std::uint32_t learner, std::uint64_t number, const Buffer& errors);

  MemoryFigures figures() const;

 private:
  /// A minibatch whose errors have not arrived yet.
  struct HandedOut {
    std::uint64_t number = 0;
    std::vector<std::uint32_t> places;
    std::uint64_t inserted = 0;  ///< inserted_ when it was drawn
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
