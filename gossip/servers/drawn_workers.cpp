#include "gossip/servers/drawn_workers.h"

#include <algorithm>

namespace gv {

PeerId draws(const Setup& setup) {
  const double fraction = setup.settings.find("fraction")->second;
  return std::max<PeerId>(1, static_cast<PeerId>(fraction * setup.peers + 1e-9));
}

std::vector<PeerId> drawn(const Setup& setup, Round round) {
  std::vector<PeerId> all = trainers(setup);
  const PeerId count = draws(setup);
  Rng rng = Rng(setup.seed).derive("fedavg").derive(round);
  for (PeerId k = 0; k < count; ++k) std::swap(all[k], all[k + rng.below(setup.peers - k)]);
  all.resize(count);
  std::ranges::sort(all);
  return all;
}

Task<std::optional<Message>> Talks::answer_of(PeerId worker) {
  Talk& talk = talks_[worker];
  std::optional<Message> push =
      co_await me_.receive(worker, Kind::push, 0, talk.number, Absence::lost);
  if (push) talk = {.number = talk.number + 1};
  co_return push;
}

Task<std::vector<PeerId>> Talks::ask_drawn(Payload x) {
  std::vector<PeerId> asked;
  for (const bool patient : {false, true}) {
    for (const PeerId peer : drawn(*me_.plan.setup, me_.round)) {
      Talk& talk = talks_[peer];
      const bool answered = me_.arrived(peer, Kind::push, 0, talk.number) != nullptr;
      if (talk.open && (answered || patient)) co_await answer_of(peer);
      if (talk.open || !me_.expects(peer)) continue;
      me_.send(peer, Kind::pull, x, 0, talk.number);
      talk.open = true;
      asked.push_back(peer);
    }
    if (!asked.empty()) break;
  }
  co_return asked;
}

Task<std::map<PeerId, Payload>> Talks::answers_of(std::vector<PeerId> asked) {
  std::map<PeerId, Payload> answers;
  for (const PeerId peer : asked) {
    const std::optional<Message> push = co_await answer_of(peer);
    if (!push) continue;  // the others' pushes count
    answers[peer] = co_await sound(me_, peer, push->payload);
  }
  co_return answers;
}

}  // namespace gv
