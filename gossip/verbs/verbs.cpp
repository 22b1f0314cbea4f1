#include "gossip/verbs/verbs.h"

#include <algorithm>
#include <cstring>
#include <span>
#include <utility>

#include "optim/check.h"

namespace gv {
namespace {

using Why = VerbEnd::Why;

VerbWord word_of(const VerbCall& call) {
  return {.op = call.op,
          .type = call.type,
          .peer = call.root,
          .bytes = call.data.size(),
          .mark = call.mark};
}

std::span<const std::byte> content(const Payload& payload) {
  return {payload->data() + verb_word_bytes, payload->size() - verb_word_bytes};
}

std::span<std::byte> content(Buffer& buffer) {
  return {buffer.data() + verb_word_bytes, buffer.size() - verb_word_bytes};
}

std::span<std::byte> piece_of(std::vector<std::byte>& data,
                              const VerbWord& word,
                              std::uint32_t part) {
  return std::span(data).subspan(word.begin(part), word.length(part));
}

}  // namespace

Verbs::Verbs(PeerCore& self, const Roster& roster, Post& post)
    : self_(self),
      roster_(roster),
      post_(post),
      trainers_(self.plan.setup ? self.plan.setup->peers : self.plan.peers),
      relays_(self.plan.id >= trainers_),
      mail_(self.neighbors.size()),
      again_(self.neighbors.size(), false) {
  if (!self.plan.verbs) return;
  if (self.plan.verbs->parent) parent_ = self.find(*self.plan.verbs->parent);
  for (const PeerId child : self.plan.verbs->children)
    if (const auto k = self.find(child)) children_.push_back(*k);
}

std::string Verbs::objection(const VerbCall& call) const {
  if (!self_.plan.verbs)
    return "peers that train have no links with each other, and verbs need links";
  if (call.op == VerbOp::neighbor_average && !self_.plan.verbs->averages && trainers_ > 1)
    return "this fleet has no fixed weights that are the same at both ends of an edge";
  return objection_to(call, trainers_);
}

void Verbs::begin(VerbCall call, Ended ended) {
  GV_CHECK(!own_, "one verb at a time");
  word_ = word_of(call);
  own_ = std::move(call);
  ended_ = std::move(ended);
  start();
}

/// Does not wait for a peer that has gone.
void Verbs::start() {
  if (is_broken(number_)) return finish({.why = broken_->why, .peer = broken_->peer});
  if (self_.plan.rejoins && trainers_ > 1)
    return break_off(number_, Why::again, self_.plan.id, std::nullopt);
  for (std::size_t k = 0; k < mail_.size(); ++k)
    if (const auto why = needs(k) ? why_without(k) : std::nullopt)
      return break_off(number_, *why, post_.first_gone(k), std::nullopt);
  advance();
}

bool Verbs::in_tree(std::size_t k) const {
  return parent_ == k || std::ranges::find(children_, k) != children_.end();
}

bool Verbs::averages_with(std::size_t k) const {
  return self_.plan.verbs->averages && self_.neighbors[k].sends && self_.neighbors[k].receives;
}

/// Returns whether the present verb waits, or will wait, for a message of neighbour k.
bool Verbs::needs(std::size_t k) const {
  if (word_->op != VerbOp::neighbor_average) return in_tree(k);
  return averages_with(k) && !has_all(k);
}

bool Verbs::is_broken(std::uint64_t number) const {
  return broken_ && broken_->first <= number && number <= broken_->last;
}

std::optional<Why> why_gone(const Roster& roster, const Post& post, PeerId peer, std::size_t k) {
  // Its process ends after its goodbye, which is no death.
  if (post.closed(peer)) return roster.left_early(k) ? Why::left : Why::over;
  return roster.dead(k) ? std::optional(Why::died) : std::nullopt;
}

VerbEnd as_told(VerbEnd end, bool goes_on) {
  if (end.why == Why::left && !goes_on) end.why = Why::over;
  return end;
}

std::optional<Why> Verbs::why_without(std::size_t k) const {
  if (again_[k]) return Why::again;
  return why_gone(roster_, post_, self_.neighbors[k].peer, k);
}

const Verbs::Letter* Verbs::front(std::size_t k, std::uint32_t part) const {
  if (mail_[k].empty()) return nullptr;
  const Letter& letter = mail_[k].front();
  return letter.number == number_ && letter.part == part ? &letter : nullptr;
}

bool Verbs::has_all(std::size_t k) const {
  return std::ranges::any_of(mail_[k], [this](const Letter& letter) {
    return letter.number == number_ && letter.part + 1 == word_->pieces();
  });
}

/// Returns whether the letter is the piece that comes next: a link keeps the order, so that the
/// piece skipped by any other would never come.
bool Verbs::follows(std::size_t k, const Letter& letter) const {
  const Letter* const last = mail_[k].empty() ? nullptr : &mail_[k].back();
  if (last != nullptr && letter.number == last->number) return letter.part == last->part + 1;
  if (last != nullptr && letter.number < last->number) return false;
  if (letter.number > number_ || !word_) return letter.part == 0;
  const bool averaging = word_->op == VerbOp::neighbor_average;
  if (averaging != (letter.word.step == VerbStep::side)) return letter.part == 0;
  return letter.part == (averaging ? down_ : up_);
}

bool Verbs::agrees(const Letter& letter, VerbStep step, bool may_be_empty) const {
  const std::size_t bytes = content(letter.payload).size();
  return letter.word.step == step && same_call(letter.word, *word_) &&
         (bytes == word_->length(letter.part) || (may_be_empty && bytes == 0));
}

void Verbs::send(std::size_t k, std::uint32_t part, Payload payload) {
  const PeerId to = self_.neighbors[k].peer;
  if (post_.closed(to)) return;
  post_.send(to, post_.make_message(Kind::verb, number_, part, std::move(payload)));
}

std::shared_ptr<Buffer> Verbs::message(VerbStep step, std::size_t bytes) {
  std::shared_ptr<Buffer> out = self_.pool().acquire(verb_word_bytes + bytes);
  VerbWord word = *word_;
  word.step = step;
  write(word, {out->data(), out->size()});
  return out;
}

void Verbs::advance() {
  while (word_ && word_->op == VerbOp::neighbor_average ? average_next() : combine_next()) {
  }
}

/// A peer that only forwards takes part in the call of the first of its children.
bool Verbs::adopt() {
  while (is_broken(number_)) finish({.why = broken_->why, .peer = broken_->peer});
  for (const std::size_t k : children_) {
    const Letter* const first = front(k, 0);
    if (first == nullptr) continue;
    word_ = first->word;
    for (std::size_t j = 0; j < mail_.size(); ++j)
      if (const auto why = in_tree(j) ? why_without(j) : std::nullopt) {
        break_off(number_, *why, post_.first_gone(j), std::nullopt);
        return false;
      }
    return true;
  }
  return false;
}

bool Verbs::combine_next() {
  if (relays_ && !word_ && !adopt()) return false;
  if (!word_ || up_ == word_->pieces() || up_ >= down_ + window) return false;
  for (const std::size_t k : children_)
    if (front(k, up_) == nullptr) return false;
  const bool partly = word_->op == VerbOp::broadcast;
  for (const std::size_t k : children_)
    if (!agrees(*front(k, up_), VerbStep::up, partly)) {
      break_off(number_, Why::disagrees, self_.neighbors[k].peer, std::nullopt);
      return false;
    }
  const std::shared_ptr<Buffer> out = combined();
  pop(children_);
  const std::uint32_t part = up_++;
  if (parent_) {
    send(*parent_, part, out);
  } else if (content(*out).size() != word_->length(part)) {
    break_off(number_, Why::disagrees, word_->peer, std::nullopt);
    return false;
  } else {
    land(out);
  }
  return true;
}

/// Returns piece up_ of this subtree's sum; for a broadcast: the root's, if the root is in it.
std::shared_ptr<Buffer> Verbs::combined() {
  const VerbStep step = parent_ ? VerbStep::up : VerbStep::down;
  const std::size_t bytes = word_->length(up_);
  if (word_->op != VerbOp::broadcast) {
    VerbSum sum(word_->type, bytes);
    if (own_) sum.add(piece_of(own_->data, *word_, up_));
    for (const std::size_t k : children_) sum.add(content(front(k, up_)->payload));
    std::shared_ptr<Buffer> out = message(step, bytes);
    sum.store(content(*out));
    return out;
  }
  std::span<const std::byte> given;
  if (own_ && word_->peer == self_.plan.id) given = piece_of(own_->data, *word_, up_);
  for (const std::size_t k : children_)
    if (given.empty()) given = content(front(k, up_)->payload);
  std::shared_ptr<Buffer> out = message(step, given.size());
  if (!given.empty()) std::memcpy(content(*out).data(), given.data(), given.size());
  return out;
}

/// A piece of the result is here, and goes down.
void Verbs::land(const Payload& payload) {
  const std::span<const std::byte> piece = content(payload);
  const std::uint32_t part = down_++;
  if (own_ && !piece.empty())
    std::memcpy(piece_of(own_->data, *word_, part).data(), piece.data(), piece.size());
  if (!children_.empty()) {
    const std::shared_ptr<Buffer> copy = message(VerbStep::down, piece.size());
    if (!piece.empty()) std::memcpy(content(*copy).data(), piece.data(), piece.size());
    for (const std::size_t k : children_) send(k, part, copy);
  }
  if (down_ == word_->pieces()) finish({});
}

bool Verbs::take_down(const Letter& letter) {
  if (letter.number != number_ || !word_ || word_->op == VerbOp::neighbor_average) return false;
  if (letter.part != down_ || down_ >= up_ || !agrees(letter, VerbStep::down, false)) return false;
  land(letter.payload);
  return true;
}

void Verbs::send_own_to_neighbors() {
  for (; up_ < word_->pieces() && up_ < down_ + window; ++up_) {
    const std::span<const std::byte> piece = piece_of(own_->data, *word_, up_);
    const std::shared_ptr<Buffer> out = message(VerbStep::side, piece.size());
    if (!piece.empty()) std::memcpy(content(*out).data(), piece.data(), piece.size());
    for (std::size_t k = 0; k < mail_.size(); ++k)
      if (averages_with(k)) send(k, up_, out);
  }
}

/// Averages in ascending order of peer, its own piece included.
void Verbs::average(const std::vector<std::size_t>& from) {
  const std::span<std::byte> own = piece_of(own_->data, *word_, down_);
  VerbSum sum(word_->type, own.size());
  std::size_t next = 0;
  const auto add_next = [&] {
    const std::size_t k = from[next++];
    sum.add(content(front(k, down_)->payload), static_cast<double>(self_.neighbors[k].weight));
  };
  while (next < from.size() && self_.neighbors[from[next]].peer < self_.plan.id) add_next();
  sum.add(own, from.empty() ? 1.0 : self_.plan.neighborhood.self);
  while (next < from.size()) add_next();
  sum.store(own);
}

bool Verbs::average_next() {
  send_own_to_neighbors();
  std::vector<std::size_t> from;
  for (std::size_t k = 0; k < mail_.size(); ++k)
    if (averages_with(k)) from.push_back(k);
  for (const std::size_t k : from)
    if (front(k, down_) == nullptr) return false;
  for (const std::size_t k : from)
    if (!agrees(*front(k, down_), VerbStep::side, false)) {
      break_off(number_, Why::disagrees, self_.neighbors[k].peer, std::nullopt);
      return false;
    }
  average(from);
  pop(from);
  if (++down_ < word_->pieces()) return true;
  finish({});
  return false;
}

void Verbs::pop(const std::vector<std::size_t>& from) {
  for (const std::size_t k : from) mail_[k].pop_front();
}

bool Verbs::take(std::size_t k, const Message& message, const VerbWord& word) {
  if (!self_.plan.verbs) return false;
  if (message.number < number_) return true;  // a piece of a verb that has ended here
  const Letter letter{message.number, message.part, word, message.payload};
  switch (word.step) {
    case VerbStep::broken:
      if (!in_tree(k)) return false;
      break_off(message.number, word.why, word.peer, k);
      if (relays_) advance();
      return true;
    case VerbStep::down:
      if (is_broken(message.number)) return true;
      if (parent_ != k || !take_down(letter)) return false;
      break;
    case VerbStep::up:
    case VerbStep::side:
      if (is_broken(message.number)) return true;
      if (word.step == VerbStep::up ? std::ranges::find(children_, k) == children_.end()
                                    : !averages_with(k) && !in_tree(k))
        return false;
      if (mail_[k].size() >= most_waiting || !follows(k, letter)) return false;
      mail_[k].push_back(letter);
      break;
    case VerbStep::want:
    case VerbStep::give:
      return false;
  }
  advance();
  return true;
}

void Verbs::gone(std::size_t k) {
  if (!word_ || !needs(k)) return;
  if (const auto why = why_without(k)) break_off(number_, *why, post_.first_gone(k), std::nullopt);
}

void Verbs::replaced(std::size_t k) {
  again_[k] = true;
  mail_[k].clear();
  gone(k);
}

/// `from`: the neighbour that sent the news; none if it was seen here.
void Verbs::break_off(std::uint64_t number, Why why, PeerId peer, std::optional<std::size_t> from) {
  if (is_broken(number)) return;
  if (!broken_) broken_ = Broken{number, number};
  broken_->first = std::min(broken_->first, number);
  broken_->last = std::max(broken_->last, number);
  broken_->why = why;
  broken_->peer = peer;
  for (std::deque<Letter>& mail : mail_)
    std::erase_if(mail, [this](const Letter& letter) { return is_broken(letter.number); });
  const std::shared_ptr<Buffer> out = self_.pool().acquire(verb_word_bytes);
  write({.step = VerbStep::broken, .why = why, .peer = peer}, {out->data(), out->size()});
  for (std::size_t k = 0; k < mail_.size(); ++k) {
    const PeerId to = self_.neighbors[k].peer;
    if (in_tree(k) && k != from && !post_.closed(to) && !roster_.dead(k))
      post_.send(to, post_.make_message(Kind::verb, number, 0, out));
  }
  if (number == number_ && word_) finish({.why = why, .peer = peer});
}

void Verbs::finish(VerbEnd end) {
  if (end.why == Why::done && own_) {
    end.data = std::move(own_->data);
    if (own_->op == VerbOp::mean) divide(own_->type, end.data, trainers_);
  }
  ++number_;
  up_ = down_ = 0;
  word_.reset();
  own_.reset();
  for (std::deque<Letter>& mail : mail_)
    std::erase_if(mail, [this](const Letter& letter) { return letter.number < number_; });
  if (broken_ && broken_->last < number_) broken_.reset();
  if (const Ended ended = std::exchange(ended_, {})) ended(std::move(end));
}

std::vector<PeerId> Verbs::missing() const {
  std::vector<PeerId> peers;
  if (!word_) return peers;
  const bool averaging = word_->op == VerbOp::neighbor_average;
  const bool all_up = !averaging && up_ == word_->pieces();
  for (std::size_t k = 0; k < mail_.size(); ++k) {
    const bool awaited =
        averaging ? averages_with(k) : std::ranges::find(children_, k) != children_.end();
    if (awaited && !all_up && front(k, averaging ? down_ : up_) == nullptr)
      peers.push_back(self_.neighbors[k].peer);
  }
  if (peers.empty() && parent_) peers.push_back(self_.neighbors[*parent_].peer);
  return peers;
}

}  // namespace gv
