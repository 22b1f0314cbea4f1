#include "gossip/life/presence.h"

#include <chrono>
#include <memory>
#include <utility>

namespace gv {
namespace {

/// Maximum length of a round of a neighbour whose only sign of life is that it computes.
constexpr Time longest_round = std::chrono::hours(1);

struct AllLeft {
  const std::size_t& leaving;
  std::coroutine_handle<>& when_left;
  bool await_ready() const noexcept { return leaving == 0; }
  void await_suspend(std::coroutine_handle<> h) const noexcept { when_left = h; }
  void await_resume() const noexcept {}
};

}  // namespace

Parting::Parting(PeerCore& self, Roster& roster, Post& post, const Pace& pace, Exchange& exchange)
    : self_(self),
      roster_(roster),
      post_(post),
      pace_(pace),
      exchange_(exchange),
      left_(self.neighbors.size()),
      worked_(self.neighbors.size()) {}

Task<> Parting::leave_all() {
  begun_ = true;
  since_ = self_.world.now();
  leaving_ = self_.neighbors.size();
  for (std::size_t k = 0; k < self_.neighbors.size(); ++k) {
    if (!roster_.here(k)) begin_patience(k);
    if (self_.plan.standstill > Time{0}) watch(k, pace_.heard(k), since_);
    farewells_.push_back(leave(k));
    farewells_.back().start();
  }
  AllLeft all{leaving_, when_left_};
  co_await all;
}

/// If all peers meet in collective operations, a neighbour that has come to the next one waits
/// there for us, and sends the half that it owes us only once it knows that we will not come.
Task<> Parting::leave(std::size_t k) {
  const PeerId peer = self_.neighbors[k].peer;
  if (self_.neighbors[k].linked && exchange_.open(k))
    post_.say_goodbye(peer, exchange_.first_without_us(k), stays_for_half);
  if (self_.rules.settles_before_leaving()) co_await exchange_.settle_late(k, true);
  left_[k] = true;
  post_.say_goodbye(peer, exchange_.first_without_us(k));
  if (--leaving_ == 0 && when_left_) std::exchange(when_left_, {}).resume();
}

/// A peer that has finished waits for the half that a neighbour owes it: for an absent neighbour at
/// most its patience, for a dead one only if another process takes its place.
void Parting::begin_patience(std::size_t k) {
  const Time patience = roster_.dead(k) ? self_.plan.succession : self_.plan.patience;
  if (exchange_.open(k) && patience > Time{0})
    self_.journal.note(event::AwaitsHalf{self_.neighbors[k].peer, patience});
  self_.world.after(patience, [this, k, outage = roster_.outages(k)] {
    if (roster_.here(k) || roster_.outages(k) != outage) return;
    if (!self_.rules.ends_wait(Interruption::patience)) return;
    give_up(k, Interruption::patience);
  });
}

void Parting::give_up(std::size_t k, Interruption why) {
  if (exchange_.open(k) && !roster_.dead(k))
    self_.journal.note(event::GaveUp{self_.neighbors[k].peer, exchange_.number(k)});
  roster_.give_up(k);
  post_.interrupt(k, why);
}

/// `reached`: the round of neighbour k at the time `since`. The neighbour makes progress while it
/// comes to new rounds, or computes. One round may take long, but its end is sure, since a process
/// whose arithmetic is stuck ends itself (faults.stuck_after). A stage that its chain holds up
/// reports that, and each of its waits ends. Repeatedly going away and coming back is no progress,
/// and a neighbour that only reports that it computes is not believed for ever.
void Parting::watch(std::size_t k, Round reached, Time since) {
  self_.world.after(self_.plan.standstill, [this, k, reached, since] {
    if (left_[k]) return;
    const Time now = self_.world.now();
    if (pace_.heard(k) > reached) return watch(k, pace_.heard(k), now);
    const bool computes = now - worked_[k] < self_.plan.standstill;
    if (computes && now - since < longest_round) return watch(k, reached, since);
    give_up(k, Interruption::deadline);
  });
}

void Parting::away(std::size_t k) {
  if (begun_) begin_patience(k);
}

void Parting::replaced(std::size_t k) {
  if (left_[k]) post_.say_goodbye(self_.neighbors[k].peer, 0);
}

Task<> Joining::fetch_model() {
  for (std::size_t k = 0; k < self_.neighbors.size(); ++k) {
    if (!self_.neighbors[k].sends || !roster_.here(k)) continue;
    if (co_await fetch_model_of(k)) co_return;
  }
  self_.journal.note(event::NoModelToTake{});
}

Task<bool> Joining::fetch_model_of(std::size_t k) {
  const PeerId peer = self_.neighbors[k].peer;
  post_.send(peer, post_.make_message(Kind::fetch, 0, 0, nullptr));
  for (std::uint32_t part = 0; part < self_.pieces(); ++part) {
    const std::optional<Message> theirs =
        co_await post_.receive({peer, Kind::model_copy, 0, part}, Absence::away);
    if (!theirs || !theirs->payload) co_return false;
    if (!self_.rules.takes_model(*theirs->payload)) co_return false;
    const Range r = self_.piece(part);
    co_await self_.compute(static_cast<double>(r.count),
                           [&] { self_.replica.load(Vector::x, r, *theirs->payload); });
  }
  self_.journal.note(event::TookModel{peer});
  co_return true;
}

/// Copies all pieces in one job, so the model is that between two steps of ours.
Task<> Joining::give_model(std::size_t k) {
  const PeerId peer = self_.neighbors[k].peer;
  const std::uint64_t life = roster_.life(k);
  std::vector<std::shared_ptr<Buffer>> model;
  for (std::uint32_t part = 0; part < self_.pieces() && stage_ == Stage::training; ++part)
    model.push_back(self_.pool().acquire(self_.piece(part).count * sizeof(float)));
  co_await self_.compute(static_cast<double>(self_.replica.size()), [&] {
    for (std::uint32_t part = 0; part < model.size(); ++part)
      self_.replica.snapshot(Vector::x, self_.piece(part), *model[part]);
  });
  if (roster_.life(k) != life) co_return;
  if (model.empty()) post_.send(peer, post_.make_message(Kind::model_copy, 0, 0, nullptr));
  for (std::uint32_t part = 0; part < model.size(); ++part)
    post_.send(peer, post_.make_message(Kind::model_copy, 0, part, model[part]));
}

bool Joining::take_question(std::size_t k, const Message& message) {
  if (!self_.neighbors[k].receives || message.payload) return false;
  std::erase_if(gifts_, [](const Task<>& gift) { return gift.done(); });
  gifts_.push_back(give_model(k));
  gifts_.back().start();
  return true;
}

bool Joining::take_piece(std::size_t k, Message message) {
  if (message.payload) {
    if (!self_.neighbors[k].sends || message.number != 0) return false;
    if (message.part >= self_.pieces()) return false;
    if (message.payload->size() != self_.piece(message.part).count * sizeof(float)) return false;
  } else if (message.part != 0) {
    return false;
  }
  // An answer that came too late is dropped.
  if (roster_.quarantined(k) || stage_ == Stage::training) return true;
  return post_.keep(std::move(message));
}

}  // namespace gv
