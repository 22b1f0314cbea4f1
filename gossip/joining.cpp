#include "gossip/joining.h"

#include <memory>
#include <utility>

namespace gv {

Task<> Joining::fetch_model() {
  for (std::size_t k = 0; k < self_.neighbors.size(); ++k) {
    if (!self_.neighbors[k].sends || !roster_.here(k)) continue;
    if (co_await fetch_model_of(k)) co_return;
  }
  self_.journal.note(event::NoModelToTake{});
}

Task<bool> Joining::fetch_model_of(std::size_t k) {
  const PeerId peer = self_.neighbors[k].peer;
  post_.send(peer, post_.letter(Kind::fetch, 0, 0, nullptr));
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

/// All pieces are copied in one job: the model as it is between two of ours.
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
  if (model.empty()) post_.send(peer, post_.letter(Kind::model_copy, 0, 0, nullptr));
  for (std::uint32_t part = 0; part < model.size(); ++part)
    post_.send(peer, post_.letter(Kind::model_copy, 0, part, model[part]));
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
  // An answer that came too late is for nobody.
  if (roster_.quarantined(k) || stage_ == Stage::training) return true;
  return post_.keep(std::move(message));
}

}  // namespace gv
