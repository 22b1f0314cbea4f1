#pragma once

#include <cstdint>
#include <deque>

#include "gossip/link/session.h"

namespace gv {

/// The state of a neighbour's question for our model. A question is small and its answer is a whole
/// model, so another one is refused until the answer has been acknowledged.
/// Invariant: at most one answer is on its way.
///
///   none --asked--> asked --answered--> answering --acknowledged, no piece of it is kept--> none
class ModelRequest {
 public:
  enum class State : std::uint8_t { none, asked, answering };

  State state() const { return state_; }
  /// False: the answer to the question before is still on its way.
  bool asked() {
    if (state_ != State::none) return false;
    state_ = State::asked;
    return true;
  }
  void answered() {
    if (state_ == State::asked) state_ = State::answering;
  }
  void acknowledged(const Session& session) {
    if (state_ != State::answering) return;
    for (const Session::Numbered& kept : session.unacknowledged())
      if (kept.message.kind == Kind::model_copy) return;
    state_ = State::none;
  }

 private:
  State state_ = State::none;
};

}  // namespace gv
