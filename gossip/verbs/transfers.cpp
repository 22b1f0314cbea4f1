#include "gossip/verbs/transfers.h"

#include <cstring>
#include <span>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "gossip/verbs/verbs.h"
#include "optim/check.h"

namespace gv {
namespace {

using Why = VerbEnd::Why;

VerbWord word_of(const VerbCall& call, VerbStep step) {
  return {.step = step,
          .op = VerbOp::transfer,
          .type = call.type,
          .bytes = call.data.size(),
          .mark = call.mark};
}

std::shared_ptr<Buffer> letter_of(PeerCore& self,
                                  const VerbWord& word,
                                  std::span<const std::byte> piece) {
  std::shared_ptr<Buffer> out = self.pool().acquire(verb_word_bytes + piece.size());
  write(word, {out->data(), out->size()});
  if (!piece.empty()) std::memcpy(out->data() + verb_word_bytes, piece.data(), piece.size());
  return out;
}

}  // namespace

Transfers::Transfers(PeerCore& self, const Roster& roster, Post& post)
    : self_(self),
      roster_(roster),
      post_(post),
      pushes_(self.neighbors.size()),
      pulls_(self.neighbors.size()) {}

std::string Transfers::objection(const VerbCall& call) const {
  if (!self_.plan.verbs)
    return "peers that train have no links with each other, and a push needs a link";
  const PeerId trainers = self_.plan.setup ? self_.plan.setup->peers : self_.plan.peers;
  std::vector<PeerId> linked;
  for (const Neighbor& neighbor : self_.neighbors)
    if (neighbor.peer < trainers) linked.push_back(neighbor.peer);
  if (call.root >= trainers || !self_.find(call.root))
    return fmt::format("peer {} has no link with peer {}; its links lead to: {}", self_.plan.id,
                       call.root, fmt::join(linked, ", "));
  return objection_to(call, trainers);
}

void Transfers::push(VerbCall call, Ended ended) {
  const std::size_t k = *self_.find(call.root);
  begin(pushes_, std::move(call), std::move(ended));
  give(k);
}

void Transfers::pull(VerbCall call, Ended ended) {
  const std::size_t k = *self_.find(call.root);
  begin(pulls_, std::move(call), std::move(ended));
  ask(k);
}

/// Begins a transfer, which ends at once if its peer has gone.
void Transfers::begin(std::vector<Way>& ways, VerbCall call, Ended ended) {
  const std::size_t k = *self_.find(call.root);
  const VerbWord word = word_of(call, &ways == &pushes_ ? VerbStep::give : VerbStep::want);
  ways[k].calls.push_back({word, std::move(call.data), std::move(ended)});
  gone(k);
}

/// Requests the next pieces of the pull in progress.
void Transfers::ask(std::size_t k) {
  Way& way = pulls_[k];
  if (way.calls.empty()) return;
  const VerbWord& word = way.calls.front().word;
  while (way.asked < word.pieces() && way.asked < way.done + window)
    send(k, way.number, way.asked++, letter_of(self_, word, {}));
}

/// Sends the requested pieces once there is a push that has them.
void Transfers::give(std::size_t k) {
  Way& way = pushes_[k];
  if (way.calls.empty() || !way.wanted) return;
  Call& call = way.calls.front();
  if (!same_call(call.word, *way.wanted)) {
    const VerbWord broken{.step = VerbStep::broken,
                          .op = VerbOp::transfer,
                          .why = Why::disagrees,
                          .peer = self_.plan.id};
    send(k, way.number, 0, letter_of(self_, broken, {}));
    return finish(way, {.why = Why::disagrees, .peer = self_.neighbors[k].peer});
  }
  while (way.done < way.asked) {
    const std::uint32_t part = way.done++;
    const std::span<const std::byte> whole(call.data);
    const auto piece = whole.subspan(call.word.begin(part), call.word.length(part));
    send(k, way.number, part, letter_of(self_, call.word, piece));
  }
  if (way.done == call.word.pieces()) finish(way, {});
}

void Transfers::send(std::size_t k, std::uint64_t number, std::uint32_t part, Payload payload) {
  const PeerId to = self_.neighbors[k].peer;
  if (!post_.closed(to))
    post_.send(to, post_.make_message(Kind::verb, number, part, std::move(payload)));
}

bool Transfers::take(std::size_t k, const Message& message, const VerbWord& word) {
  if (!self_.plan.verbs) return false;
  return word.step == VerbStep::want ? take_want(k, message, word) : take_piece(k, message, word);
}

/// Requests for a push that has failed here may still be on their way.
bool Transfers::take_want(std::size_t k, const Message& message, const VerbWord& word) {
  Way& way = pushes_[k];
  if (message.payload->size() != verb_word_bytes) return false;
  if (message.number < way.number) return true;
  if (message.number > way.number || message.part != way.asked) return false;
  if (message.part >= word.pieces() || way.asked >= way.done + window) return false;
  if (way.wanted && !same_call(*way.wanted, word)) return false;
  way.wanted = word;
  ++way.asked;
  give(k);
  return true;
}

bool Transfers::take_piece(std::size_t k, const Message& message, const VerbWord& word) {
  Way& way = pulls_[k];
  if (way.calls.empty() || message.number != way.number || way.asked == 0) return false;
  if (word.step == VerbStep::broken) {
    if (word.why != Why::disagrees) return false;
    finish(way, {.why = Why::disagrees, .peer = self_.neighbors[k].peer});
    ask(k);
    return true;
  }
  Call& call = way.calls.front();
  const std::size_t length = message.payload->size() - verb_word_bytes;
  if (message.part != way.done || way.done >= way.asked || !same_call(call.word, word) ||
      length != call.word.length(message.part))
    return false;
  if (length > 0)
    std::memcpy(call.data.data() + call.word.begin(message.part),
                message.payload->data() + verb_word_bytes, length);
  if (++way.done == call.word.pieces()) finish(way, {.data = std::move(call.data)});
  ask(k);
  return true;
}

void Transfers::gone(std::size_t k) {
  const PeerId peer = self_.neighbors[k].peer;
  const auto why = why_gone(roster_, post_, peer, k);
  if (!why) return;
  finish_all(pushes_[k], {.why = *why, .peer = peer});
  finish_all(pulls_[k], {.why = *why, .peer = peer});
}

void Transfers::replaced(std::size_t k) {
  for (std::vector<Way>* const ways : {&pushes_, &pulls_}) {
    Way old = std::exchange((*ways)[k], {});
    finish_all(old, {.why = Why::again, .peer = self_.neighbors[k].peer});
  }
}

/// The notified caller may begin another transfer.
void Transfers::finish(Way& way, VerbEnd end) {
  const Ended ended = std::move(way.calls.front().ended);
  way.calls.pop_front();
  ++way.number;
  way.asked = way.done = 0;
  way.wanted.reset();
  ended(std::move(end));
}

void Transfers::finish_all(Way& way, const VerbEnd& end) {
  for (std::size_t left = way.calls.size(); left > 0 && !way.calls.empty(); --left)
    finish(way, end);
}

}  // namespace gv
