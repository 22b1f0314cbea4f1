#include <algorithm>
#include <deque>
#include <utility>

#include "gossip/experience.h"
#include "gossip/peer.h"
#include "gossip/supply.h"
#include "optim/rl/served_memory.h"

// A memory takes chunks of transitions from actors and hands out minibatches to learners, each as
// far as the ratio of the two allows (optim/rl/served_memory.h). It waits for no particular actor:
// one actor more or less changes nothing. If none is left, or none has sent anything for as long as
// faults.deadline, the stored transitions are handed out without a limit. It ends with the last of
// its learners, unless another process takes the place of one that has died.

namespace gv {
namespace {

/// Maximum that an honest peer has under way: two chunks, or the questions for two minibatches.
constexpr std::ptrdiff_t most_under_way = 2;

class Remembering {
 public:
  explicit Remembering(Peer& me)
      : me_(me), part_(*me.plan.experience), memory_(*part_.memory), setup_(*me.plan.setup) {
    for (const PeerId i : experience_links(setup_, me.plan.id)) {
      (learns(i) ? learners_ : actors_).push_back(i);
      if (learns(i)) asked_[i] = 0;
    }
  }

  Task<> run() {
    for (;;) {
      bool goes_on = needed();
      if (!goes_on) goes_on = co_await learnt_from_again();
      if (!goes_on) co_return;
      co_await hear();
      const bool answered = co_await answer();
      if (!answered) co_await wait();
    }
  }

 private:
  bool learns(PeerId i) const { return i < setup_.peers; }
  bool lives(PeerId i) const { return me_.expects(i) && !part_.shuts_out(i); }
  bool any_lives(const std::vector<PeerId>& of) const {
    return std::ranges::any_of(of, [this](PeerId i) { return lives(i); });
  }
  bool alone() const { return silent_ || !any_lives(actors_); }
  /// Nothing will ever come of an empty memory without actors.
  bool needed() const { return any_lives(learners_) && !(memory_.empty() && !any_lives(actors_)); }

  Task<bool> learnt_from_again();
  void keep(std::deque<Message>& list, Message message);
  void refuse(PeerId from);
  Task<> hear();
  Task<bool> answer();
  Task<> take(Message chunk);
  Task<> serve(Message question);
  Task<> judge(const Message& question);
  Task<> wait();
  bool awaits(PeerId i) const;
  void say_alone();
  void tell();

  Peer& me_;
  ExperiencePart& part_;
  ServedMemory& memory_;
  const Setup& setup_;
  std::vector<PeerId> learners_, actors_;
  std::deque<Message> questions_, chunks_;
  AskedNumbers asked_;
  bool silent_ = false;  ///< no actor has sent anything for as long as the deadline
  bool said_ = false;
};

/// Returns whether there is a learner to serve again; waits for successors, if there may be any.
Task<bool> Remembering::learnt_from_again() {
  for (const PeerId i : learners_) {
    if (!me_.running() || any_lives(learners_)) break;
    co_await me_.succeeded(i, me_.life(i));
  }
  co_return me_.running() && needed();
}

/// Drops messages of a sender's earlier process; refuses more than an honest peer sends.
void Remembering::keep(std::deque<Message>& list, Message message) {
  const PeerId from = message.from;
  std::erase_if(list, [&](const Message& m) { return m.from == from && m.life != message.life; });
  if (std::ranges::count(list, from, &Message::from) >= most_under_way) return refuse(from);
  if (!part_.shuts_out(from)) list.push_back(std::move(message));
}

void Remembering::refuse(PeerId from) {
  std::uint32_t& strikes = part_.strikes[from];
  if (strikes >= ExperiencePart::most_strikes) return;
  ++strikes;
  me_.journal.note(
      event::ExperienceRefused{me_.round, from, strikes, ExperiencePart::most_strikes});
}

Task<> Remembering::hear() {
  while (me_.waiting(Kind::ready)) {
    Next next = co_await me_.next(Kind::ready);
    if (next.message) keep(questions_, std::move(*next.message));
  }
  while (me_.waiting(experience_kind)) {
    Next next = co_await me_.next(experience_kind);
    if (next.message) keep(chunks_, std::move(*next.message));
  }
  std::erase_if(questions_, [this](const Message& m) { return !lives(m.from); });
  tell();
}

/// An actor leaves with its learner, which is no death: keeps the count before the first departure.
void Remembering::tell() {
  const MemoryFigures of = memory_.figures();
  const auto is_here = [this](PeerId i) { return lives(i); };
  const auto alive = static_cast<PeerId>(std::ranges::count_if(actors_, is_here));
  const bool all_learn = std::ranges::all_of(learners_, is_here);
  part_.figures = {.taken = of.taken,
                   .learnt = of.learnt,
                   .kept = of.kept,
                   .actors = all_learn ? alive : part_.figures.actors};
}

/// Answers what is allowed, each kind in the order of arrival. Returns true if there was anything.
Task<bool> Remembering::answer() {
  bool any = false;
  while (!chunks_.empty() && memory_.may_take()) {
    Message chunk = std::move(chunks_.front());
    chunks_.pop_front();
    co_await take(std::move(chunk));
    any = true;
  }
  while (!questions_.empty() && !memory_.empty() && (memory_.may_serve() || alone())) {
    Message question = std::move(questions_.front());
    questions_.pop_front();
    co_await serve(std::move(question));
    any = true;
  }
  tell();
  co_return any;
}

Task<> Remembering::take(Message chunk) {
  silent_ = false;
  bool sound = false;
  const auto work = [&] { sound = memory_.take(*chunk.payload); };
  co_await me_.compute(static_cast<double>(chunk.payload->size()), work, Activity::compute);
  if (!sound) {
    refuse(chunk.from);
  } else if (chunk.life == me_.life(chunk.from)) {
    me_.send(chunk.from, taken_kind, nullptr, 0, me_.round);
  }
}

Task<> Remembering::judge(const Message& question) {
  bool sound = false;
  const auto work = [&] {
    sound = memory_.judge(question.from, question.number - 2, *question.payload);
  };
  co_await me_.compute(static_cast<double>(question.payload->size()), work, Activity::compute);
  if (!sound) refuse(question.from);
}

Task<> Remembering::serve(Message question) {
  const PeerId from = question.from;
  if (question.payload && question.number >= 2) co_await judge(question);
  const bool counts = memory_.may_serve();
  if (!counts) say_alone();
  Payload samples;
  const auto draw = [&] { samples = memory_.minibatch(from, question.number, counts); };
  co_await me_.compute(static_cast<double>(setup_.most_samples_bytes), draw, Activity::compute);
  if (samples && question.life == me_.life(from))
    me_.send(from, Kind::samples, samples, 0, question.number);
  asked_[from] = question.number;
  tell();
  co_await follow(me_, slowest(me_, asked_));
}

/// No message if all peers are to stop.
void Remembering::say_alone() {
  if (me_.running() && !std::exchange(said_, true))
    me_.journal.note(event::LearnsWithoutActors{me_.round, memory_.figures().kept});
}

/// Returns whether i holds up a message: actors hold up minibatches, learners chunks.
bool Remembering::awaits(PeerId i) const {
  return learns(i) ? !chunks_.empty() && lives(i) : !questions_.empty() && lives(i);
}

Task<> Remembering::wait() {
  const bool late_counts = !questions_.empty();
  const Time deadline = late_counts ? me_.plan.deadline : Time{0};
  Post::Awaited awaited;
  if (late_counts || !chunks_.empty()) awaited = [this](PeerId i) { return awaits(i); };
  Next next = co_await me_.next(Kind::ready, deadline, std::move(awaited));
  if (next.late && late_counts) silent_ = true;
  if (next.message) keep(questions_, std::move(*next.message));
}

}  // namespace

Task<> remember(Peer& me) {
  Remembering work(me);
  co_await work.run();
}

}  // namespace gv
