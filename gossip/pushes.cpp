#include "gossip/pushes.h"

#include <algorithm>

namespace gv {

Task<Payload> Pushes::send(std::vector<PeerId> to, Vector v, double number) {
  const Range all{0, me_.replica.size()};
  const Payload vector = co_await me_.encode(v, all, me_.codec());
  const Payload beside = me_.one_number(number);
  for (const PeerId j : to) {
    me_.send(j, Kind::push, vector, 0);
    me_.send(j, Kind::push, beside, 1);
  }
  co_return vector;
}

bool Pushes::has(PeerId from, Round round) const {
  return std::ranges::any_of(kept_, [=](const auto& entry) {
    return entry.first.second == from && entry.first.first >= round && entry.second.whole();
  });
}

/// A push comes whole before the next one of its sender: a part without the rest, whose sender goes
/// on, stays without it. An honest sender waits for us or leaves us out, so that no more of it than
/// `ahead_` is ever kept; what a liar sends beyond that is dropped.
void Pushes::keep(Message message) {
  std::erase_if(kept_, [&](const auto& entry) {
    const auto& [round, from] = entry.first;
    return from == message.from && round != message.number && !entry.second.whole();
  });
  const auto kept = std::ranges::count_if(
      kept_, [&](const auto& entry) { return entry.first.second == message.from; });
  const bool begun = kept_.contains({message.number, message.from});
  if (!begun && kept > static_cast<std::ptrdiff_t>(ahead_)) return;
  Push& push = kept_[{message.number, message.from}];
  if (message.part == 0) push.vector = std::move(message.payload);
  if (message.part == 1) push.number = static_cast<double>(message.payload->floats()[0]);
}

Task<> Pushes::hear(std::vector<PeerId> from, Round round) {
  const auto missing = [&](PeerId j) { return me_.here(j) && !has(j, round); };
  const Post::Awaited awaited = [&](PeerId j) {
    return std::ranges::count(from, j) > 0 && missing(j);
  };
  while (me_.waiting(Kind::push) || std::ranges::any_of(from, missing)) {
    Next next = co_await me_.next(Kind::push, me_.plan.deadline, awaited);
    if (next.message) keep(std::move(*next.message));
    if (next.late) co_return;
  }
}

std::optional<Pushes::Taken> Pushes::take(Round until) {
  const auto oldest = std::ranges::find_if(
      kept_, [=](const auto& entry) { return entry.first.first <= until && entry.second.whole(); });
  if (oldest == kept_.end()) return {};
  const PeerId from = oldest->first.second;
  Taken taken{std::move(oldest->second), from};
  kept_.erase(oldest);
  return taken;
}

Task<Payload> sound(Peer& me, PeerId from, Payload vector, std::optional<Codec> codec) {
  // Another server's part may have another length: the channel does not know whose this is.
  const Payload floats = co_await me.decode(vector, me.replica.size(), codec);
  if (!floats) co_return nullptr;
  bool finite = true;
  co_await me.compute(static_cast<double>(me.replica.size()),
                      [&] { finite = all_finite(floats->floats()); });
  if (finite) co_return floats;
  me.journal.note(event::NotFiniteCame{me.round, from, 1, 0});
  co_return nullptr;
}

std::vector<Channel> push_channels(const Setup& setup, std::size_t d, std::uint32_t ahead) {
  const std::size_t vector = payload_bytes(setup.codec, d);
  const auto fits = [vector](PeerId, std::uint32_t part, std::size_t bytes) {
    return (part == 0 && bytes == vector) || (part == 1 && bytes == sizeof(float));
  };
  return {{.kind = Kind::push,
           .most_bytes = std::max(vector, sizeof(float)),
           .fits = fits,
           .most_waiting = 2 * (ahead + 1),
           .keeps = Keeps::queue}};
}

}  // namespace gv
