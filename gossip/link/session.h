#pragma once

#include <cstdint>
#include <deque>

#include "gossip/seam/message.h"

namespace gv {

/// A conversation with one neighbour that outlives its connections. Each message has a number, is
/// kept until the neighbour acknowledges it, and is sent again over the next connection if this one
/// lost it. The payloads are shared, so keeping costs no copy. Invariant: while both ends live,
/// every message is taken exactly once and in order.
class Session {
 public:
  struct Numbered {
    std::uint64_t number;
    Message message;
  };
  enum class Arrival { next, again, gap };

  virtual ~Session() = default;

  /// Gives the message its number, from 1 on, and keeps it.
  const Numbered& send(Message message);
  std::uint64_t sent() const { return sent_; }
  /// The neighbour has everything up to `number`. Returns false if that number was never sent.
  virtual bool acknowledge(std::uint64_t number);
  /// Returns the number up to which everything was acknowledged, and is no longer kept.
  std::uint64_t acknowledged() const { return sent_ - unacknowledged_.size(); }
  /// Returns the unacknowledged messages in order; all are sent over a new connection.
  const std::deque<Numbered>& unacknowledged() const { return unacknowledged_; }
  std::uint64_t unacknowledged_bytes() const { return unacknowledged_bytes_; }  ///< payload bytes

  /// Judges an arriving number: the next one, a repetition to be dropped, or a gap, which is the
  /// neighbour's fault.
  virtual Arrival arrive(std::uint64_t number);
  /// Returns the number up to which everything was received.
  std::uint64_t received() const { return received_; }

 protected:
  std::uint64_t received_ = 0;

 private:
  std::uint64_t sent_ = 0;
  std::deque<Numbered> unacknowledged_;
  std::uint64_t unacknowledged_bytes_ = 0;
};

/// The state of a neighbour's question for our model. A question is small and its answer is a whole
/// model, so the next question is refused until the answer has been acknowledged. Invariant: at
/// most one answer is on its way.
///
///   none --asked--> asked --answered--> answering --acknowledged, no piece is kept--> none
class ModelRequest {
 public:
  enum class State : std::uint8_t { none, asked, answering };

  State state() const { return state_; }
  /// Returns false if the answer to the previous question is still on its way.
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
