#include "gossip/experience.h"

#include <algorithm>
#include <numeric>

#include "gossip/peer.h"
#include "gossip/supply.h"
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

}  // namespace gv
