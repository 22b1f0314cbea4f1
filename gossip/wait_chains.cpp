#include "gossip/wait_chains.h"

namespace gv {

bool WaitChains::hear(std::size_t k, const Message& message) {
  const std::uint64_t ends = 2 * std::uint64_t{self_.plan.peers};
  const bool form =
      message.part == 1 ? message.number < ends : message.part == 0 && message.number == 0;
  if (message.payload || !form) return false;
  told_[k].reset();
  if (message.part == 1) told_[k] = message.number;
  return true;
}

bool WaitChains::absence(std::size_t k) const {
  return !roster_.here(k) || (told_[k] && *told_[k] >= self_.plan.peers);
}

bool WaitChains::circle(std::size_t k) const {
  return told_[k] && (*told_[k] == self_.plan.id || *told_[k] == self_.neighbors[k].peer);
}

WaitChains::End WaitChains::end(std::size_t k) const {
  const PeerId peers = self_.plan.peers;
  if (!roster_.here(k)) return peers;
  const PeerId neighbor = self_.neighbors[k].peer;
  const End theirs = told_[k].value_or(neighbor);
  if (theirs < peers) return theirs;
  return theirs + 1 < 2 * std::uint64_t{peers} ? theirs + 1 : neighbor;
}

std::vector<WaitChains::Chain> WaitChains::chains(
    const std::function<bool(PeerId)>& awaited) const {
  std::vector<Chain> chains;
  for (std::size_t k = 0; k < self_.neighbors.size(); ++k)
    if (const Chain chain{k, end(k)};
        chain.end != self_.plan.id && awaited(self_.neighbors[k].peer))
      chains.push_back(chain);
  return chains;
}

std::optional<WaitChains::End> WaitChains::end_of_any(const std::vector<Chain>& chains,
                                                      std::size_t told) const {
  std::optional<End> found;
  for (const Chain& chain : chains) {
    if (chain.k == told) continue;
    found = chain.end;
    if (chain.end != self_.neighbors[told].peer) break;
  }
  return found;
}

}  // namespace gv
