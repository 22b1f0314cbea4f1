#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "gossip/message.h"
#include "gossip/timesheet.h"
#include "gossip/world.h"
#include "optim/state.h"

namespace gv {

/// The costs of a peer's part of a run, up to the end of a round. A checkpoint holds it, so that a
/// run that goes on from there counts on where it stopped.
struct Costs {
  Spent spent{};
  std::uint64_t sent_bytes = 0;      ///< on the wire
  std::uint64_t model_bytes = 0;     ///< of them: payloads
  std::uint64_t repeated_bytes = 0;  ///< beside them: sent again
  std::uint64_t samples = 0;         ///< trained on
  Time longest_wait{0};              ///< for a neighbour's half
  Round passed_over = 0;             ///< rounds without it

  /// Adds what came later. Of the waits the longest counts.
  Costs& operator+=(const Costs& later);
  /// The time without evaluations and checkpoints.
  Time training_time() const;
};

/// Calls `visit(name, member)` for each cost that is one number, in the order of a checkpoint. All
/// that adds, keeps or tells costs goes through here, so that a new one is a member and a line.
template <class Visit>
constexpr void each_cost(const Visit& visit) {
  visit("sent_bytes", &Costs::sent_bytes);
  visit("model_bytes", &Costs::model_bytes);
  visit("repeated_bytes", &Costs::repeated_bytes);
  visit("samples", &Costs::samples);
  visit("longest_wait_ns", &Costs::longest_wait);
  visit("passed_over", &Costs::passed_over);
}

/// Raises each cost to at least the other's.
void raise(Costs& costs, const Costs& to);

/// Writes them as a training state's last words: what is in front is read as it always was.
void save_at_end(StateWriter& state, const Costs& costs);
/// Reads them from a training state; nothing where an earlier version of the program wrote it.
/// Numbers that no run can have count as nothing, too.
Costs costs_at_end(std::span<const std::byte> state);

}  // namespace gv
