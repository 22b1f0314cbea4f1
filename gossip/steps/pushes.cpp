#include "gossip/steps/pushes.h"

#include <algorithm>
#include <limits>

#include "gossip/sums/norms.h"

namespace gv {
namespace {

const PushRules& rules_of(const Peer& me) {
  static const PushRules documented;
  const auto* const own = dynamic_cast<const PushRules*>(&me.rules);
  return own != nullptr ? *own : documented;
}

}  // namespace

Task<Payload> Pushes::send(std::vector<PeerId> to, Vector v, double number) {
  const Range all{0, me_.replica.size()};
  const Payload vector = co_await me_.encode(v, all, me_.codec());
  const Payload beside = me_.one_number(number);
  for (const PeerId j : to) {
    reached_[j] = me_.clock();
    me_.send(j, Kind::push, vector, 0, me_.clock());
    me_.send(j, Kind::push, beside, 1, me_.clock());
  }
  co_return vector;
}

void Pushes::send_nothing(const std::vector<PeerId>& to) {
  const Payload nothing = me_.one_number(0);
  for (const PeerId j : to) {
    reached_[j] = me_.clock();
    me_.send(j, Kind::push, nothing, 1, me_.clock());
  }
}

bool Pushes::has(PeerId from, Round round) const {
  const auto newest = newest_.find(from);
  return newest != newest_.end() && newest->second >= round;
}

std::ptrdiff_t Pushes::whole_of(PeerId from) const {
  return std::ranges::count_if(
      kept_, [=](const auto& entry) { return entry.first.second == from && entry.second.whole(); });
}

/// All parts of a push arrive before its sender's next push. So a push with missing parts stays
/// incomplete if its sender has continued, and is dropped.
void Pushes::keep(Message message) {
  std::erase_if(kept_, [&](const auto& entry) {
    const auto& [round, from] = entry.first;
    return from == message.from && round != message.number && !entry.second.whole();
  });
  if (!rules_of(me_).keeps_what_is_far_ahead()) {
    const bool begun = kept_.contains({message.number, message.from});
    if (!begun && whole_of(message.from) >= ahead_) return;
  }
  Push& push = kept_[{message.number, message.from}];
  if (message.part == 0) push.vector = std::move(message.payload);
  if (message.part == 1) push.number = static_cast<double>(message.payload->floats()[0]);
  if (!push.whole()) return;
  Round& newest = newest_[message.from];
  newest = std::max(newest, message.number);
}

/// Along a circle of one-way edges each peer could wait for the next one, if one was away when
/// another began its round.
void Pushes::reach_who_is_back(const std::vector<PeerId>& to) {
  for (const PeerId j : to) {
    const auto last = reached_.find(j);
    const bool reached = last != reached_.end() && last->second >= me_.clock();
    if (!reached && me_.here(j)) send_nothing({j});
  }
}

Task<bool> Pushes::hear(std::vector<PeerId> from, Round round, std::vector<PeerId> to) {
  const Time deadline = me_.plan.deadline;
  if (!until_) until_ = me_.world.now() + deadline;
  const auto missing = [&](PeerId j) {
    return me_.here(j) && !has(j, round) && !me_.beyond(j, round);
  };
  const Post::Awaited awaited = [&](PeerId j) {
    return std::ranges::count(from, j) > 0 && missing(j);
  };
  while (me_.waiting(Kind::push) || std::ranges::any_of(from, missing)) {
    reach_who_is_back(to);
    const Time left = *until_ - me_.world.now();
    if (deadline > Time{0} && left <= Time{0} && !me_.waiting(Kind::push)) break;
    Next next = co_await me_.next(Kind::push, deadline > Time{0} ? left : deadline, awaited);
    if (!next.message) continue;
    const PeerId sender = next.message->from;
    keep(std::move(*next.message));
    if (!rules_of(me_).one_deadline()) until_ = me_.world.now() + deadline;
    if (too_far_ahead(sender)) co_return false;
  }
  until_.reset();
  co_return true;
}

std::optional<Pushes::Taken> Pushes::take(Round until) {
  const auto oldest = std::ranges::find_if(kept_, [&](const auto& entry) {
    const auto& [round, from] = entry.first;
    return entry.second.whole() && (round <= until || too_far_ahead(from));
  });
  if (oldest == kept_.end()) return {};
  const PeerId from = oldest->first.second;
  Taken taken{std::move(oldest->second), from};
  kept_.erase(oldest);
  return taken;
}

Task<Payload> sound(Peer& me, PeerId from, Payload vector, std::optional<Codec> codec) {
  // Another server's part may have another length, and the channel does not know the owner.
  const Payload floats = co_await me.decode(vector, me.replica.size(), codec);
  if (!floats) co_return nullptr;
  bool finite = true;
  co_await me.compute(static_cast<double>(me.replica.size()),
                      [&] { finite = all_finite(floats->floats()); });
  if (finite) co_return floats;
  if (clips_sums(me) && from < me.plan.setup->peers)
    Norms(me).tell(from, std::numeric_limits<double>::quiet_NaN(), 0);
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
