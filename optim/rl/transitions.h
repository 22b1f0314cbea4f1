#pragma once

#include <cstddef>
#include <cstdint>
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

}  // namespace gv
