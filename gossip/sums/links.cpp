#include "gossip/sums/links.h"

#include <algorithm>
#include <set>

#include "gossip/seam/traffic.h"

namespace gv {
namespace {

std::uint32_t host_of(const Setup& setup, PeerId i) {
  return setup.hosts.empty() ? 0 : setup.hosts[i];
}

/// The next and the previous of group[rank].
std::vector<PeerId> ring_neighbors(const std::vector<PeerId>& group, PeerId rank) {
  const auto n = static_cast<PeerId>(group.size());
  if (n == 1) return {};
  std::vector<PeerId> links{group[ring_previous(rank, n)], group[ring_next(rank, n)]};
  std::ranges::sort(links);
  if (n == 2) links.pop_back();
  return links;
}

/// Channels for `messages` vectors of at most `floats` floats in one operation.
std::vector<Channel> channels(const Setup& setup, std::size_t floats, std::size_t messages) {
  // In a fleet that clips, the lengths of the peers' contributions precede them (norms.h).
  const std::size_t told = setup.clip ? setup.peers * sizeof(float) : 0;
  const std::size_t most = std::max(payload_bytes(setup.codec, floats), told);
  const std::size_t unit = setup.codec ? 1 : sizeof(float);
  const auto fits = [=](PeerId, std::uint32_t, std::size_t bytes) {
    return bytes > 0 && bytes % unit == 0 && bytes <= most;
  };
  const auto waiting = static_cast<std::uint32_t>(2 * (messages + (setup.clip ? setup.peers : 0)));
  return {{Kind::reduce, most, fits, waiting}, {Kind::gather, most, fits, waiting}};
}

std::size_t divided(std::size_t d, std::size_t by) {
  return (d + by - 1) / by;
}

}  // namespace

std::vector<Channel> ring_channels(const Setup& setup, std::size_t d) {
  const std::size_t chunk = divided(d, setup.peers);
  return channels(setup, std::min(piece_floats, chunk), setup.peers * divided(chunk, piece_floats));
}

std::vector<Channel> plain_ring_channels(const Setup& setup, std::size_t d) {
  Setup plain = setup;
  plain.codec.reset();
  return ring_channels(plain, d);
}

std::vector<Channel> piece_channels(const Setup& setup, std::size_t d) {
  return channels(setup, std::min(piece_floats, d), divided(d, piece_floats));
}

std::vector<Channel> host_channels(const Setup& setup, std::size_t d) {
  const std::size_t machines = first_of_hosts(setup).size();
  const std::size_t along_ring = machines * divided(divided(d, machines), piece_floats);
  return channels(setup, std::min(piece_floats, d), std::max(along_ring, divided(d, piece_floats)));
}

std::vector<PeerId> ring_links(const Setup& setup, PeerId i) {
  std::vector<PeerId> all(setup.peers);
  for (PeerId j = 0; j < setup.peers; ++j) all[j] = j;
  return ring_neighbors(all, i);
}

std::vector<PeerId> driver_links(const Setup& setup, PeerId i) {
  if (i != 0) return {0};
  std::vector<PeerId> others;
  for (PeerId j = 1; j < setup.peers; ++j) others.push_back(j);
  return others;
}

std::vector<PeerId> doubling_links(const Setup& setup, PeerId i) {
  std::vector<PeerId> partners;
  for (PeerId bit = 1; bit < setup.peers; bit *= 2) partners.push_back(i ^ bit);
  std::ranges::sort(partners);
  return partners;
}

std::vector<PeerId> host_group(const Setup& setup, PeerId i) {
  std::vector<PeerId> group;
  for (PeerId j = 0; j < setup.peers; ++j)
    if (host_of(setup, j) == host_of(setup, i)) group.push_back(j);
  return group;
}

std::vector<PeerId> first_of_hosts(const Setup& setup) {
  std::set<std::uint32_t> seen;
  std::vector<PeerId> firsts;
  for (PeerId j = 0; j < setup.peers; ++j)
    if (seen.insert(host_of(setup, j)).second) firsts.push_back(j);
  return firsts;
}

std::vector<PeerId> host_links(const Setup& setup, PeerId i) {
  const std::vector<PeerId> mine = host_group(setup, i);
  if (mine.front() != i) return {mine.front()};
  const std::vector<PeerId> firsts = first_of_hosts(setup);
  const auto rank = static_cast<PeerId>(std::ranges::find(firsts, i) - firsts.begin());
  std::vector<PeerId> links = ring_neighbors(firsts, rank);
  links.insert(links.end(), mine.begin() + 1, mine.end());
  std::ranges::sort(links);
  return links;
}

}  // namespace gv
