#include "graph/topology/topology.h"

#include <stdexcept>

namespace gv {
namespace {

using Adjacency = std::vector<std::vector<PeerId>>;

/// Returns the hops from `start` along `adjacency`; -1 for peers that cannot be reached.
std::vector<std::int64_t> hops_from(const Adjacency& adjacency, PeerId start) {
  std::vector<std::int64_t> hops(adjacency.size(), -1);
  std::vector<PeerId> front{start};
  hops[start] = 0;
  for (std::int64_t distance = 1; !front.empty(); ++distance) {
    std::vector<PeerId> next;
    for (const PeerId u : front) {
      for (const PeerId v : adjacency[u]) {
        if (hops[v] >= 0) continue;
        hops[v] = distance;
        next.push_back(v);
      }
    }
    front = std::move(next);
  }
  return hops;
}

bool reaches_all(const Adjacency& adjacency) {
  const std::vector<std::int64_t> hops = hops_from(adjacency, 0);
  return std::ranges::none_of(hops, [](std::int64_t h) { return h < 0; });
}

Adjacency reversed(const Adjacency& adjacency) {
  Adjacency back(adjacency.size());
  for (PeerId u = 0; u < adjacency.size(); ++u) {
    for (const PeerId v : adjacency[u]) back[v].push_back(u);
  }
  return back;
}

Adjacency both_ways(const Adjacency& adjacency) {
  Adjacency both = reversed(adjacency);
  for (PeerId u = 0; u < adjacency.size(); ++u)
    both[u].insert(both[u].end(), adjacency[u].begin(), adjacency[u].end());
  return both;
}

/// "{0 1 2 ...}": the first few and how many there are.
std::string abridged(const std::vector<PeerId>& peers) {
  constexpr std::size_t most = 8;
  std::string text(1, '{');
  text += std::to_string(peers[0]);
  for (std::size_t k = 1; k < std::min(most, peers.size()); ++k) {
    text += ' ';
    text += std::to_string(peers[k]);
  }
  if (peers.size() > most) text += " ... (" + std::to_string(peers.size()) + " peers)";
  return text + "}";
}

}  // namespace

std::vector<Edge> Topology::edges() const {
  std::vector<Edge> list;
  for (PeerId i = 0; i < size(); ++i) {
    for (const PeerId j : neighbors[i]) {
      if (directed) {
        list.emplace_back(j, i);
      } else if (i < j) {
        list.emplace_back(i, j);
      }
    }
  }
  std::ranges::sort(list);
  return list;
}

Topology make_topology(std::string name, PeerId n, const std::vector<Edge>& edges) {
  Topology t{
      .name = std::move(name), .directed = false, .neighbors = Adjacency(n), .edge_weights = {}};
  for (const auto& [u, v] : edges) {
    if (u >= n || v >= n) {
      throw std::invalid_argument("edge " + std::to_string(u) + " " + std::to_string(v) +
                                  " in a graph of " + std::to_string(n) + " peers");
    }
    if (u == v) continue;
    t.neighbors[u].push_back(v);
    t.neighbors[v].push_back(u);
  }
  for (auto& list : t.neighbors) {
    std::ranges::sort(list);
    list.erase(std::unique(list.begin(), list.end()), list.end());
  }
  return t;
}

bool is_connected(const Topology& t) {
  if (t.size() == 0) return true;
  return reaches_all(t.neighbors) && (!t.directed || reaches_all(reversed(t.neighbors)));
}

std::vector<std::vector<PeerId>> components(const Topology& t) {
  const Adjacency both = both_ways(t.neighbors);
  std::vector<bool> seen(t.size(), false);
  std::vector<std::vector<PeerId>> parts;
  for (PeerId start = 0; start < t.size(); ++start) {
    if (seen[start]) continue;
    std::vector<PeerId>& part = parts.emplace_back(1, start);
    seen[start] = true;
    for (std::size_t next = 0; next < part.size(); ++next) {
      for (const PeerId v : both[part[next]]) {
        if (!seen[v]) part.push_back(v);
        seen[v] = true;
      }
    }
    std::ranges::sort(part);
  }
  std::ranges::stable_sort(parts, std::ranges::greater{}, &std::vector<PeerId>::size);
  return parts;
}

std::string disconnection(const Topology& t) {
  if (is_connected(t)) return "";
  const auto parts = components(t);
  if (parts.size() == 1)
    return "topology " + t.name +
           " is not strongly connected: some peers receive nothing from some others";
  constexpr std::size_t most = 5;
  std::string text =
      "topology " + t.name +
      " is not connected: some peers would never receive anything from some others; " +
      std::to_string(parts.size()) + " components:";
  for (std::size_t k = 0; k < std::min(most, parts.size()); ++k) {
    text += ' ';
    text += abridged(parts[k]);
  }
  return parts.size() > most ? text + " ..." : text;
}

void require_connected(const Topology& t) {
  const std::string what = disconnection(t);
  if (!what.empty()) {
    throw std::invalid_argument(
        what + "; join them by edges, or try another seed, a higher degree or probability");
  }
}

std::int64_t diameter(const Topology& t) {
  if (!is_connected(t)) return -1;
  std::int64_t longest = 0;
  for (PeerId i = 0; i < t.size(); ++i)
    longest = std::max(longest, std::ranges::max(hops_from(t.neighbors, i)));
  return longest;
}

ChainMap::ChainMap(std::span<const PeerId> peers_of_stages)
    : stages_(static_cast<PeerId>(peers_of_stages.size())) {
  PeerId end = 0;
  for (const PeerId peers : peers_of_stages) ends_.push_back(end += peers);
}

PeerId ChainMap::stage(PeerId i) const {
  const PeerId at = i % peers();
  if (ends_.empty()) return at;
  return static_cast<PeerId>(std::ranges::upper_bound(ends_, at) - ends_.begin());
}

std::vector<PeerId> ChainMap::stage_peers(PeerId i, PeerId stage) const {
  std::vector<PeerId> all;
  for (PeerId k = 0; k < peers_of(stage); ++k) all.push_back(first(i) + begin(stage) + k);
  return all;
}

}  // namespace gv
