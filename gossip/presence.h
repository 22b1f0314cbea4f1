#pragma once

#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "gossip/core.h"
#include "gossip/exchange.h"
#include "gossip/pace.h"
#include "gossip/post.h"
#include "gossip/roster.h"

namespace gv {

/// A peer's last words, edge by edge and all at once: a neighbour may be waiting for our goodbye
/// while we wait for the half that another one owes us. Invariant: a goodbye is said once in each
/// life of a neighbour, when the last exchange with it is settled or has been given up; those of
/// our collective operations are told before that that we come no more.
class Parting {
 public:
  Parting(PeerCore& self, Roster& roster, Post& post, const Pace& pace, Exchange& exchange);

  /// Leaves, and waits until the goodbye to every neighbour is said.
  Task<> leave_all();

  bool begun() const { return begun_; }
  /// Since when; only when it has begun.
  Time since() const { return since_; }

  /// Neighbour k computes.
  void heard_work(std::size_t k) { worked_[k] = self_.world.now(); }
  /// Neighbour k went away, or has died: from now on it is waited for only so long.
  void away(std::size_t k);
  /// A new process does not know that we have left.
  void replaced(std::size_t k);

 private:
  friend struct Inspect;  // tests/explore
  Task<> leave(std::size_t k);
  void begin_patience(std::size_t k);
  void watch(std::size_t k, Round reached, Time since);
  void give_up(std::size_t k, Interruption why);

  PeerCore& self_;
  Roster& roster_;
  Post& post_;
  const Pace& pace_;
  Exchange& exchange_;
  bool begun_ = false;
  Time since_{0};
  std::vector<bool> left_;    ///< our goodbye is said
  std::vector<Time> worked_;  ///< when each was last heard to compute
  std::size_t leaving_ = 0;
  std::coroutine_handle<> when_left_;
  std::vector<Task<>> farewells_;
};

/// The meaning of the `part` of a goodbye, bit by bit.
inline constexpr std::uint32_t leaves_early = 1;  ///< before its last round
/// The algorithm has ended, and the process stays for the last exchange: another goodbye follows.
inline constexpr std::uint32_t stays_for_half = 2;

/// Gives our model to a neighbour that has lost its own, and takes a neighbour's. The one that
/// gives copies it once and goes on training; what the other brings is new to the fleet's mean.
/// Invariant: a model is taken only before training begins, and given only after.
class Joining {
 public:
  Joining(PeerCore& self, const Roster& roster, Post& post)
      : self_(self), roster_(roster), post_(post) {}

  /// Takes the model from the first neighbour that has one; or says that nobody has.
  Task<> fetch_model();
  /// Training begins: we have a model to give, and take none any more.
  void end() { stage_ = Stage::training; }

  /// The question of neighbour k, or a piece of its answer. False: not one that can be expected.
  bool take_question(std::size_t k, const Message& message);
  bool take_piece(std::size_t k, Message message);

 private:
  enum class Stage : std::uint8_t { joining, training };

  Task<bool> fetch_model_of(std::size_t k);
  Task<> give_model(std::size_t k);

  PeerCore& self_;
  const Roster& roster_;
  Post& post_;
  Stage stage_ = Stage::joining;
  std::vector<Task<>> gifts_;  ///< models on their way out, beside the algorithm
};

}  // namespace gv
