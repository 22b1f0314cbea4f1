#include <algorithm>
#include <utility>

#include "gossip/experience.h"
#include "gossip/peer.h"
#include "optim/rl/acting.h"

// An actor acts with its learner's model and sends the transitions to its memory, which
// acknowledges each chunk; at most two chunks are under way. From time to time the actor asks for
// the model, and acts with the old one until the new one has arrived. So it never waits for its
// learner, which may itself be waiting for transitions. It begins with the initial model that all
// peers share. It ends when its learner or its memory ends, unless another process takes the
// place of the dead one. The actor then continues with that one and drops messages under way.

namespace gv {
namespace {

constexpr std::uint32_t most_under_way = 2;

class Acts {
 public:
  Acts(Peer& me, PeerId learner, PeerId memory)
      : me_(me), actor_(*me.plan.experience->actor), learner_(learner), memory_(memory) {}

  Task<> run() {
    bool both = true;
    while (both) {
      co_await act_for_both();
      both = co_await has(learner_);
      if (both) both = co_await has(memory_);
    }
  }

 private:
  bool goes_on() const { return me_.running() && me_.expects(learner_) && me_.expects(memory_); }
  Task<> act_for_both();
  Task<bool> has(PeerId peer);
  std::uint32_t& under_way();
  Task<> look_at_model();
  bool model_is_here() const;
  Task<Payload> next_chunk();
  Task<> hear();

  Peer& me_;
  Actor& actor_;
  PeerId learner_, memory_;
  std::uint64_t chunk_ = 0;      ///< number of the next chunk
  std::uint32_t under_way_ = 0;  ///< chunks under way to the memory's present process
  std::uint64_t memory_life_ = 0;
  bool asked_ = false;
  std::uint64_t question_ = 0;
  std::uint64_t life_ = 0;  ///< life of the learner's process that received the question
  std::uint64_t due_ = 0;   ///< frames at which the next question is due
};

/// Acts while learner and memory are there. A new memory starts without chunks under way.
Task<> Acts::act_for_both() {
  for (;;) {
    while (goes_on() && (under_way() >= most_under_way || me_.waiting(taken_kind))) co_await hear();
    if (!goes_on()) co_return;
    co_await look_at_model();
    const Payload transitions = co_await next_chunk();
    if (!transitions) co_return;
    me_.send(memory_, experience_kind, transitions, 0, chunk_++);
    ++under_way();
  }
}

/// Returns whether the peer is there. After its death, waits for a successor if peers are
/// restarted, and returns whether one has taken its place.
Task<bool> Acts::has(PeerId peer) {
  if (!me_.running()) co_return false;
  if (me_.expects(peer)) co_return true;
  const bool again = co_await me_.succeeded(peer, me_.life(peer));
  co_return again;
}

std::uint32_t& Acts::under_way() {
  if (std::exchange(memory_life_, me_.life(memory_)) != me_.life(memory_)) under_way_ = 0;
  return under_way_;
}

bool Acts::model_is_here() const {
  for (std::uint32_t part = 0; part < pieces_of(actor_.size()); ++part)
    if (me_.arrived(learner_, model_kind, part, question_) == nullptr) return false;
  return true;
}

/// Loads the model once it has arrived and asks for the next one when it is due. If the process
/// that received the question has died, asks its successor again.
Task<> Acts::look_at_model() {
  if (asked_ && me_.life(learner_) != life_) asked_ = false, ++question_;
  if (asked_ && model_is_here()) {
    for (std::uint32_t part = 0; part < pieces_of(actor_.size()); ++part) {
      const std::optional<Message> piece =
          co_await me_.receive(learner_, model_kind, part, question_, Absence::lost);
      if (!piece) co_return;
      actor_.load(part * piece_floats, piece->payload->floats());
    }
    const auto use = [this] { actor_.use(); };
    co_await me_.compute(static_cast<double>(actor_.size()), use, Activity::mix);
    asked_ = false;
    ++question_;
  }
  if (asked_ || actor_.frames() < due_) co_return;
  asked_ = true;
  life_ = me_.life(learner_);
  due_ = actor_.frames() + me_.plan.experience->model_every;
  me_.send(learner_, wanted_kind, nullptr, 0, question_);
}

/// Returns the next chunk of transitions, or null if the actor has to end.
Task<Payload> Acts::next_chunk() {
  Payload transitions;
  const auto work = [&] { transitions = actor_.act(); };
  while (!transitions && goes_on()) {
    co_await me_.compute(actor_.flops(), work, Activity::compute);
    me_.plan.experience->figures.frames = actor_.frames();
  }
  co_return transitions;
}

/// Waits for the memory's acknowledgement. The actor adopts the memory's round, which is that of
/// the slowest peer that the memory serves.
Task<> Acts::hear() {
  const Post::Awaited awaited = [this](PeerId i) { return i == memory_; };
  const Next next = co_await me_.next(taken_kind, {}, awaited);
  if (!next.message) co_return;
  if (under_way() > 0) --under_way();
  co_await follow(me_, next.message->number);
}

}  // namespace

Task<> act(Peer& me) {
  const std::vector<PeerId> links = experience_links(*me.plan.setup, me.plan.id);
  Acts work(me, links.front(), links.back());
  co_await work.run();
}

}  // namespace gv
