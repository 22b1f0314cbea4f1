#include "gossip/experience.h"

#include <algorithm>
#include <deque>
#include <numeric>
#include <utility>

#include "gossip/peer.h"
#include "gossip/supply.h"
#include "optim/rl/acting.h"
#include "optim/rl/q_agent.h"
#include "optim/rl/served_memory.h"

namespace gv {
namespace {

PeerId first_actor(const Setup& setup) {
  return setup.peers + setup.servers + setup.data_servers;
}

PeerId memory_of(const Setup& setup, PeerId actor) {
  return setup.peers + setup.servers + (actor - first_actor(setup)) % setup.data_servers;
}

PeerId learner_of(const Setup& setup, PeerId actor) {
  return (actor - first_actor(setup)) % setup.peers;
}

std::size_t piece_bytes(std::size_t d, std::uint32_t part) {
  return std::min(piece_floats, d - part * piece_floats) * sizeof(float);
}

Channel experience_channel(const Setup& setup, std::shared_ptr<const ExperiencePart> part) {
  const PeerId first = first_actor(setup);
  const std::size_t most = setup.most_chunk_bytes;
  const auto fits = [=, part = std::move(part)](PeerId from, std::uint32_t p, std::size_t bytes) {
    const bool shut_out = part && part->shuts_out(from);
    return from >= first && p == 0 && bytes > 0 && bytes <= most && !shut_out;
  };
  return {.kind = experience_kind, .most_bytes = most, .fits = fits, .keeps = Keeps::queue};
}

/// A question for a minibatch, with or without errors.
Channel ready_channel(const Setup& setup, std::shared_ptr<const ExperiencePart> part) {
  const PeerId n = setup.peers;
  const std::size_t most = setup.most_judged_bytes;
  const auto fits = [=, part = std::move(part)](PeerId from, std::uint32_t p, std::size_t bytes) {
    const bool shut_out = part && part->shuts_out(from);
    return from < n && p == 0 && bytes <= most && !shut_out;
  };
  return {.kind = Kind::ready, .most_bytes = most, .fits = fits, .keeps = Keeps::queue};
}

}  // namespace

std::uint32_t pieces_of(std::size_t d) {
  return static_cast<std::uint32_t>((d + piece_floats - 1) / piece_floats);
}

/// Advances to the round `to`. Skips a long way in one jump: a new process needs that, and a false
/// round from a liar then costs little time.
Task<> follow(Peer& me, Round to) {
  constexpr Round most_at_once = 1000;
  to = std::min(to, me.plan.rounds);
  if (to > me.round + most_at_once) me.go_on_in(to);
  while (me.running() && me.round < to) co_await me.end_round();
}

std::vector<PeerId> actors(const Setup& setup) {
  std::vector<PeerId> all(setup.actors);
  std::iota(all.begin(), all.end(), first_actor(setup));
  return all;
}

std::vector<PeerId> experience_links(const Setup& setup, PeerId i) {
  if (i >= first_actor(setup)) return {learner_of(setup, i), memory_of(setup, i)};
  std::vector<PeerId> links = supply_links(setup, i);
  const bool learns = i < setup.peers;
  for (const PeerId a : actors(setup))
    if ((learns ? learner_of(setup, a) : memory_of(setup, a)) == i) links.push_back(a);
  return links;
}

std::vector<Channel> experience_channels(const Setup& setup,
                                         std::size_t d,
                                         const std::shared_ptr<const ExperiencePart>& part) {
  const PeerId n = setup.peers, servers = n + setup.servers, first = first_actor(setup);
  const std::size_t most = setup.most_samples_bytes;
  const auto is_memory = [=](PeerId from) { return from >= servers && from < first; };
  const auto samples = [=](PeerId from, std::uint32_t p, std::size_t bytes) {
    return is_memory(from) && p == 0 && bytes > 0 && bytes <= most;
  };
  const auto taken = [=](PeerId from, std::uint32_t p, std::size_t bytes) {
    return is_memory(from) && p == 0 && bytes == 0;
  };
  const auto wanted = [=](PeerId from, std::uint32_t p, std::size_t bytes) {
    return from >= first && p == 0 && bytes == 0;
  };
  const auto model = [=](PeerId from, std::uint32_t p, std::size_t bytes) {
    return from < n && p < pieces_of(d) && bytes == piece_bytes(d, p);
  };
  return {ready_channel(setup, part),
          {.kind = Kind::samples, .most_bytes = most, .fits = samples},
          experience_channel(setup, part),
          {.kind = taken_kind, .fits = taken, .keeps = Keeps::queue},
          {.kind = wanted_kind, .fits = wanted, .keeps = Keeps::queue},
          {.kind = model_kind,
           .most_bytes = piece_bytes(d, 0),
           .fits = model,
           .most_waiting = 2 * pieces_of(d)}};
}

Payload judgement_for(const Peer& me, std::uint64_t number) {
  const auto& part = me.plan.experience;
  const auto trained = static_cast<std::uint64_t>(me.replica.scalar("minibatches"));
  if (!part || !part->judged || trained == 0 || number != trained + 1) return nullptr;
  return pack_errors(part->judged->errors);
}

Task<> answer_actors(Peer& me) {
  std::vector<Message> questions;
  while (me.waiting(wanted_kind)) {
    Next next = co_await me.next(wanted_kind);
    if (next.message) questions.push_back(std::move(*next.message));
  }
  if (questions.empty()) co_return;
  for (std::uint32_t part = 0; part < me.pieces(); ++part) {
    const Payload piece = co_await me.snapshot(Vector::x, me.piece(part));
    for (const Message& question : questions)
      if (question.life == me.life(question.from))
        me.send(question.from, model_kind, piece, part, question.number);
  }
}

// A memory takes chunks of transitions from actors and hands out minibatches to learners, each as
// far as the ratio of the two allows (optim/rl/served_memory.h). It waits for no particular actor:
// one actor more or less changes nothing. If none is left, or none has sent anything for as long as
// faults.deadline, the stored transitions are handed out without a limit. It ends with the last of
// its learners, unless another process takes the place of one that has died.

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

// An actor acts with its learner's model and sends the transitions to its memory, which
// acknowledges each chunk; at most two chunks are under way. From time to time the actor asks for
// the model, and acts with the old one until the new one has arrived. So it never waits for its
// learner, which may itself be waiting for transitions. It begins with the initial model that all
// peers share. It ends when its learner or its memory ends, unless another process takes the
// place of the dead one. The actor then continues with that one and drops messages under way.

namespace {

constexpr std::uint32_t most_batches_under_way = 2;

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
    while (goes_on() && (under_way() >= most_batches_under_way || me_.waiting(taken_kind)))
      co_await hear();
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
