#pragma once

#include <cstddef>
#include <vector>

#include "gossip/core.h"
#include "gossip/post.h"
#include "gossip/roster.h"

namespace gv {

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
