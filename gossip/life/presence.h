#pragma once

#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "gossip/core/core.h"
#include "gossip/core/pace.h"
#include "gossip/exchange/exchange.h"
#include "gossip/mail/post.h"

namespace gv {

/// A peer's goodbyes to all neighbours at once: a neighbour may wait for our goodbye while we wait
/// for the half that another one owes us. Invariant: each life of a neighbour gets one goodbye,
/// when the last exchange with it is settled or has been given up; members of our collective
/// operations learn earlier that we will not come.
class Parting {
 public:
  Parting(PeerCore& self, Roster& roster, Post& post, const Pace& pace, Exchange& exchange);

  /// Leaves, and waits until every neighbour has got its goodbye.
  Task<> leave_all();

  bool begun() const { return begun_; }
  /// Returns the time at which leaving began. Call only if begun().
  Time since() const { return since_; }

  /// Neighbour k computes.
  void heard_work(std::size_t k) { worked_[k] = self_.world.now(); }
  /// Neighbour k went away, or has died: limits the wait for it from now on.
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
  std::vector<bool> left_;    ///< true if our goodbye was sent
  std::vector<Time> worked_;  ///< last time at which each reported that it computes
  std::size_t leaving_ = 0;
  std::coroutine_handle<> when_left_;
  std::vector<Task<>> farewells_;
};

/// Gives our model to a neighbour that has lost its own, or takes a neighbour's. The giver copies
/// it once and continues training; the receiver's model is new to the fleet's mean. Invariant: a
/// model is taken only before training begins, and given only after.
class Joining {
 public:
  Joining(PeerCore& self, const Roster& roster, Post& post)
      : self_(self), roster_(roster), post_(post) {}

  /// Takes the model from the first neighbour that has one, or logs that none has.
  Task<> fetch_model();
  /// Training begins: from now on models are given, and not taken.
  void end() { stage_ = Stage::training; }

  /// Takes neighbour k's question, or a piece of its answer. False if it cannot be expected.
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
  std::vector<Task<>> gifts_;  ///< models on their way out, concurrent with the algorithm
};

}  // namespace gv
